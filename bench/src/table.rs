//! The results as text and as JSON.

use serde_json::{Value, json};

use crate::comparison::{Aimed, Measured, Quantity, Row};
use crate::figure::{Figure, thousands, time};
use crate::load::{Load, Rates};
use crate::machine::Machine;
use crate::sizes::Sizes;

const HEADS: [&str; 4] = ["CPU, ratio", "wall, ratio", "CPU", "wall"];

/// A comparison as aligned text.
pub fn text(measured: &Measured) -> String {
    let Measured { title, rounds, calls, .. } = measured;
    let title = format!("{title}: {rounds} × {calls} calls\n");
    let mut lines = vec![line("", &HEADS.map(str::to_owned))];
    lines.extend(
        measured.rows.iter().zip(cells(measured)).map(|(row, cells)| line(&row.name, &cells)),
    );
    lines.extend(measured.aimed.iter().map(|aimed| format!("aim: {}\n", aimed_text(aimed))));
    lines.extend(measured.absent.iter().map(|absent| format!("not measured: {absent}\n")));
    title + &lines.concat()
}

fn line(name: &str, cells: &[String; 4]) -> String {
    let [cpu_ratio, wall_ratio, cpu, wall] = cells;
    let line = format!("  {name:<24}{cpu_ratio:<24}{wall_ratio:<24}{cpu:>9}{wall:>10}");
    format!("{}\n", line.trim_end())
}

/// Sizes as aligned text.
pub fn sizes_text(sizes: &Sizes) -> String {
    let row = |(name, bytes): &(&str, u64)| {
        let megabytes = *bytes as f64 / 1e6;
        format!("  {name:<24}{:<24.2}{megabytes:>6.1} MB\n", sizes.ratio(*bytes))
    };
    let rows: String = sizes.rows.iter().map(row).collect();
    let (name, bytes) = sizes.last();
    let ratio = sizes.ratio(bytes);
    let at_most = sizes.at_most;
    format!("{}\n{rows}aim: {name}, size: {ratio:.2}, to be at most {at_most}\n", sizes.title)
}

/// Rates of calls as aligned text.
pub fn load_text(load: &Load) -> String {
    let line = |cells: [&str; 6]| {
        let [name, ratio, rate, p50, p95, p99] = cells;
        format!("  {name:<24}{ratio:<24}{rate:>10}{p50:>10}{p95:>10}{p99:>10}\n")
    };
    let heads = line(["", "calls/s, ratio", "calls/s", "p50", "p95", "p99"]);
    let ratios = load.ratios();
    let rows = load.rows.iter().zip(&ratios).enumerate().map(|(index, (row, ratio))| {
        let ratio = if index == 0 { "1".to_owned() } else { ratio.to_string() };
        let [p50, p95, p99] = row.percentiles().map(|at| time(at.median));
        line([&row.name, &ratio, &thousands(row.rate().median as usize), &p50, &p95, &p99])
    });
    let rows: String = rows.collect();
    let aim = load.at_least.map_or_else(String::new, |at_least| {
        let (name, rate) = load.last();
        let rate = thousands(rate as usize);
        let at_least = thousands(at_least);
        format!("aim: {name}, calls a second: {rate}, to be at least {at_least}\n")
    });
    let trips = load.round_trips.map_or_else(String::new, |(trips, at_most)| {
        let (name, _) = load.last();
        format!("aim: {name}, round trips a call: {trips:.1}, to be at most {at_most}\n")
    });
    let Load { title, calls, .. } = load;
    format!("{title}: {} × {calls} calls\n{heads}{rows}{aim}{trips}", load.rounds())
}

/// All results as JSON, with times in microseconds.
pub fn json(all: &[Measured], sizes: &[Sizes], loads: &[Load], machine: &Machine) -> Value {
    let figure = |figure: &Figure| {
        let Figure { median, least, most } = figure;
        json!({"median": median, "least": least, "most": most})
    };
    let row = |row: &Row| {
        json!({
            "name": row.name,
            "cpu_ratio": row.cpu_ratio.as_ref().map(figure),
            "wall_ratio": figure(&row.wall_ratio),
            "cpu_us": row.cpu.as_ref().map(figure),
            "wall_us": figure(&row.wall),
        })
    };
    let aimed = |aimed: &Aimed| {
        json!({
            "contestant": aimed.contestant,
            "quantity": quantity(aimed.quantity),
            "ratio": aimed.ratio,
            "at_most": aimed.at_most,
        })
    };
    let measured = |measured: &Measured| {
        json!({
            "title": measured.title,
            "rounds": measured.rounds,
            "calls_a_round": measured.calls,
            "rows": measured.rows.iter().map(row).collect::<Vec<_>>(),
            "aims": measured.aimed.iter().map(aimed).collect::<Vec<_>>(),
            "absent": measured.absent,
        })
    };
    let comparisons: Vec<Value> = all.iter().map(measured).collect();
    let sizes = sizes.iter().map(|sizes| {
        let row = |(name, bytes): &(&str, u64)| json!({"name": name, "bytes": bytes});
        let rows: Vec<Value> = sizes.rows.iter().map(row).collect();
        json!({"title": sizes.title, "rows": rows, "at_most": sizes.at_most})
    });
    let sizes: Vec<Value> = sizes.collect();
    let loads = loads.iter().map(|load| {
        let ratios = load.ratios();
        let row = |(row, ratio): (&Rates, &Figure)| {
            let [p50, p95, p99] = row.percentiles();
            json!({
                "name": row.name,
                "rate_ratio": figure(ratio),
                "calls_a_second": figure(&row.rate()),
                "p50_us": figure(&p50),
                "p95_us": figure(&p95),
                "p99_us": figure(&p99),
            })
        };
        let rows: Vec<Value> = load.rows.iter().zip(&ratios).map(row).collect();
        json!({
            "title": load.title,
            "rows": rows,
            "at_least": load.at_least,
            "round_trips": load.round_trips.map(|(trips, _)| trips),
        })
    });
    let loads: Vec<Value> = loads.collect();
    json!({
        "machine": machine.to_json(),
        "comparisons": comparisons,
        "sizes": sizes,
        "loads": loads,
    })
}

/// The cells of each row. Only ratios show their spread.
fn cells(measured: &Measured) -> Vec<[String; 4]> {
    let or_dash = |shown: Option<String>| shown.unwrap_or_else(|| "-".to_owned());
    let cells = |(index, row): (usize, &Row)| {
        let ratio = |ratio: Figure| match index {
            0 => "1".to_owned(),
            _ => ratio.to_string(),
        };
        [
            or_dash(row.cpu_ratio.map(ratio)),
            ratio(row.wall_ratio),
            or_dash(row.cpu.map(|cpu| time(cpu.median))),
            time(row.wall.median),
        ]
    };
    measured.rows.iter().enumerate().map(cells).collect()
}

fn aimed_text(aimed: &Aimed) -> String {
    let Aimed { contestant, ratio, at_most, .. } = aimed;
    let quantity = quantity(aimed.quantity);
    format!("{contestant}, {quantity}: {ratio:.2}, to be at most {at_most}")
}

fn quantity(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Cpu => "CPU",
        Quantity::Wall => "wall",
    }
}
