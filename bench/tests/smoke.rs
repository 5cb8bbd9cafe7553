//! Every part of `bench` runs, with so few calls that the figures mean nothing: what is tested is
//! that each line is printed.

use std::process::{Command, Output};

use serde_json::Value;

const COMPARISONS: [(&str, &[&str]); 7] = [
    (
        "exec to the first result of `read_summary`",
        &["bare host", "agent-memory call", "MCP server, 2026-07-28", "MCP server, 2025-11-25"],
    ),
    ("`read_summary`, of 1 KB, storage in memory", IN_MEMORY),
    ("`read_summary`, of 1 KB, on disk", &["bare read of the file", "the library", "over MCP"]),
    ("`append_entry` to a log of 1 KB, storage in memory", IN_MEMORY),
    ("`append_entry` to a log of 1 KB, on disk", DURABLE),
    ("`append_entry` to a log of 100 KB, storage in memory", IN_MEMORY),
    ("`append_entry` to a log of 100 KB, on disk", DURABLE),
];

const IN_MEMORY: &[&str] = &["the core, native", "the component"];
const DURABLE: &[&str] = &["bare durable replace", "the library", "over MCP"];

/// Each gate, and whether it is one of the processor's time, which only Linux tells.
const GATES: [(&str, bool); 6] = [
    ("MCP server, 2026-07-28, wall: ", false),
    ("MCP server, 2025-11-25, wall: ", false),
    ("the component, CPU: ", true),
    ("the library, wall: ", false),
    ("the component, CPU: ", true),
    ("the library, wall: ", false),
];

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bench"));
    command.args(arguments).output().expect("bench starts")
}

/// What a run prints that has measured everything, whether or not the gates are met.
fn printed(arguments: &[&str]) -> String {
    let output = bench(arguments);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}

#[test]
fn each_comparison_prints_a_line_for_each_contestant_and_each_gate() {
    let text = printed(&["--rounds", "1", "--quick"]);
    let mut blocks = text.split("\n\n");
    let machine = blocks.next().expect("a first line");
    assert!(machine.contains("file system"), "{machine}");
    for ((title, names), block) in COMPARISONS.iter().zip(blocks.by_ref()) {
        assert!(block.starts_with(&format!("{title}: 1 × ")), "{title}:\n{block}");
        for name in *names {
            assert!(block.contains(&format!("\n  {name}  ")), "{name}:\n{block}");
        }
        if title.ends_with("storage in memory") {
            continue;
        }
        if !block.contains("\n  from Node  ") {
            let absent = block.lines().find(|line| line.starts_with("not measured: from Node: "));
            println!("{}", absent.unwrap_or_else(|| panic!("nothing of Node in:\n{block}")));
        }
    }
    assert_eq!(blocks.next(), None);
    let gates: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("gate: ")).collect();
    let expected = GATES.iter().filter(|(_, of_cpu)| !of_cpu || cfg!(target_os = "linux"));
    assert_eq!(gates.len(), expected.clone().count(), "{text}");
    for (gate, (start, _)) in gates.iter().zip(expected) {
        assert!(gate.starts_with(start), "{gate}");
        assert!(gate.ends_with(": met") || gate.ends_with(": NOT met"), "{gate}");
    }
}

#[test]
fn the_exit_status_says_whether_every_gate_is_met() {
    let output = bench(&["read-summary", "--rounds", "1", "--quick"]);
    assert_eq!(output.status.code(), Some(0), "it has no gate");
    let output = bench(&["append-entry", "--rounds", "1", "--quick"]);
    let missed = String::from_utf8_lossy(&output.stdout).contains(": NOT met");
    assert_eq!(output.status.code(), Some(if missed { 1 } else { 0 }));
}

#[test]
fn json_has_the_figures_of_every_line() {
    let text = printed(&["append-entry", "--rounds", "2", "--quick", "--json"]);
    let json: Value = serde_json::from_str(&text).expect("JSON alone");
    assert!(json["machine"]["cores"].as_u64() > Some(0));
    let comparisons = json["comparisons"].as_array().expect("a list");
    assert_eq!(comparisons.len(), 4);
    for comparison in comparisons {
        assert_eq!(comparison["rounds"], 2);
        assert!(comparison["gates"].is_array(), "{comparison}");
        let rows = comparison["rows"].as_array().expect("a list");
        assert_eq!(rows[0]["wall_ratio"]["median"], 1.0, "the first is what ratios are taken to");
        for row in rows {
            let of = |bound: &str| row["wall_us"][bound].as_f64().expect("a figure");
            assert!(0.0 < of("least") && of("least") <= of("median"), "{row}");
            assert!(of("median") <= of("most"), "{row}");
        }
    }
}

#[test]
fn the_readme_is_not_written_from_a_part_nor_from_a_quick_run() {
    for (arguments, says) in [(["start"], "needs all parts"), (["--quick"], "cannot be used with")]
    {
        let output = bench(&[&arguments[..], &["--write-readme"]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(says), "{says}");
    }
}
