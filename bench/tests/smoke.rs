//! Runs every part of `bench`, and checks its lines. There are so few calls that the figures mean
//! nothing.

use std::process::{Command, Output};

use serde_json::Value;

const COMPARISONS: [(&str, &[&str]); 10] = [
    (
        "exec to the first result of `read_summary`",
        &["bare host", "agent-memory call", "MCP server, 2026-07-28", "MCP server, 2025-11-25"],
    ),
    ("opening a memory", &["the library"]),
    ("the first `read_summary` of a program", &["the library"]),
    ("an add of a memory in JSON, on disk", &["the library"]),
    ("`read_summary`, of 1 KB, storage in memory", IN_MEMORY),
    ("`read_summary`, of 1 KB, on disk", &["bare read of the file", "the library", "over MCP"]),
    ("`append_entry` to a log of 1 KB, storage in memory", IN_MEMORY),
    ("`append_entry` to a log of 1 KB, on disk", DURABLE),
    ("`append_entry` to a log of 100 KB, storage in memory", IN_MEMORY),
    ("`append_entry` to a log of 100 KB, on disk", DURABLE),
];

const IN_MEMORY: &[&str] = &["the core, native", "the component"];
const DURABLE: &[&str] =
    &["bare durable replace", "the core, then that", "the library", "over MCP"];

/// The aims, and whether each is about processor time, which only Linux gives.
const AIMS: [(&str, bool); 6] = [
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

/// The output of a complete run, which succeeds even if it misses aims.
fn printed(arguments: &[&str]) -> String {
    let output = bench(arguments);
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{}\n{out}\n{err}", output.status);
    out.into_owned()
}

#[test]
fn each_comparison_prints_a_line_for_each_contestant_and_each_aim() {
    let text = printed(&["--rounds", "1", "--quick"]);
    let (machine, blocks) = text.split_once("\n\n").expect("a first line");
    assert!(machine.contains("file system"), "{machine}");
    let mut blocks: Vec<&str> = blocks.split("\n\n").collect();
    // This comparison is missing if no package is built.
    blocks.retain(|block| !block.starts_with("loading the package: "));
    let (blocks, records) = blocks.split_at(COMPARISONS.len());
    for ((title, names), block) in COMPARISONS.iter().zip(blocks) {
        has_lines(block, title, names);
        if title.ends_with("storage in memory") {
            continue;
        }
        for package in ["from Node", "from Python"] {
            if !block.contains(&format!("\n  {package}  ")) {
                let absent = format!("not measured: {package}: ");
                let absent = block.lines().find(|line| line.starts_with(&absent));
                println!("{}", absent.unwrap_or_else(|| panic!("nothing {package} in:\n{block}")));
            }
        }
    }
    has_aims(blocks, &AIMS);
    let first = records.iter().position(|block| block.contains(" episodes: "));
    let (records, layers) = records.split_at(first.expect("layers follow"));
    let first = records.iter().position(|block| block.starts_with("a question of eight words, "));
    let (records, search) = records.split_at(first.expect("questions follow"));
    let first = layers.iter().position(|block| block.contains(" categories of "));
    let (layers, stores) = layers.split_at(first.expect("stores follow"));
    let first = stores.iter().position(|block| block.contains("a query of the latest memory"));
    let (stores, http) = stores.split_at(first.expect("HTTP comes last"));
    are_of_records(records, &["40", "80"]);
    are_of_search(search);
    are_of_layers(layers, &["40", "80"]);
    are_of_stores(stores);
    are_of_http(http);
}

#[test]
fn records_are_measured_among_the_most_memories_where_that_is_asked_for() {
    let text = printed(&["records", "--rounds", "1", "--quick", "--large"]);
    let blocks: Vec<&str> = text.split("\n\n").skip(1).collect();
    are_of_records(&blocks, &["40", "80", "160"]);
    let grown = blocks.iter().find(|block| block.contains("160 memories, over MCP"));
    has_aims(&[*grown.expect("it is printed")], &[("the most memories, CPU: ", true)]);
}

#[test]
fn layers_are_measured_among_the_most_episodes_where_that_is_asked_for() {
    let text = printed(&["layers", "--rounds", "1", "--quick", "--large"]);
    let blocks: Vec<&str> = text.split("\n\n").skip(1).collect();
    are_of_layers(&blocks, &["40", "80", "160"]);
}

fn has_lines(block: &str, title: &str, names: &[&str]) {
    assert!(block.starts_with(&format!("{title}: 1 × ")), "{title}:\n{block}");
    for name in names {
        assert!(block.contains(&format!("\n  {name}  ")), "{name}:\n{block}");
    }
}

fn has_aims(blocks: &[&str], expected: &[(&str, bool)]) {
    let lines = blocks.iter().flat_map(|block| block.lines());
    let aims: Vec<&str> = lines.filter_map(|line| line.strip_prefix("aim: ")).collect();
    let expected = expected.iter().filter(|(_, of_cpu)| !of_cpu || cfg!(target_os = "linux"));
    assert_eq!(aims.len(), expected.clone().count(), "{aims:?}");
    for (aim, (start, _)) in aims.iter().zip(expected) {
        assert!(aim.starts_with(start), "{aim}");
        assert!(aim.contains(", to be at most "), "{aim}");
    }
}

/// Checks the comparisons on records. `sizes` are the numbers of memories in SQLite; JSON has the first
/// two.
fn are_of_records(blocks: &[&str], sizes: &[&str]) {
    const QUERIES: [&str; 7] = [
        "without a filter",
        "by `archived`",
        "by `type`",
        "by `importance`",
        "by `category`",
        "by `tags`",
        "by `search`, a rare term",
    ];
    let mut blocks = blocks.iter().copied();
    let mut next = |title: &str, names: &[&str]| {
        let block = blocks.next().unwrap_or_else(|| panic!("{title} is missing"));
        has_lines(block, title, names);
        block
    };
    let ours = ["the library", "over MCP"];
    let with = |bare| [bare, ours[0], ours[1]];
    for size in sizes {
        let of = |what: &str| format!("{what} in SQLite, {size} memories");
        let added = next(&of("an add"), &with("bare engine"));
        has_aims(&[added], &[("over MCP, CPU: ", true), ("over MCP, wall: ", false)]);
        for query in QUERIES {
            let queried = next(&of(&format!("a query {query}")), &with("bare engine"));
            let aims = [("over MCP, wall: ", false)];
            let has_aim = query.contains("search") && *size != sizes[0];
            has_aims(&[queried], if has_aim { &aims } else { &[] });
        }
        next(&of("a recall of 20"), &with("bare engine"));
        for peer in ["server-memory (npm)", "mcp-memory (crate)", "mcp-memory, durable"] {
            // Peers may not be installed.
            let block = next(&of(&format!("an add beside {peer}")), &["over MCP"]);
            match block.lines().find(|line| line.starts_with("not measured: ")) {
                Some(absent) => println!("{absent}"),
                None => has_aims(&[block], &[("over MCP, CPU: ", true)]),
            }
        }
    }
    let last = sizes[sizes.len() - 1];
    for who in ["the bare engine", "over MCP"] {
        let title = format!("an add in SQLite as it grows from 40 to {last} memories, {who}");
        next(&title, &["the fewest memories", "the most memories"]);
    }
    for size in &sizes[..2] {
        let of = |what: &str| format!("{what} in JSON, {size} memories");
        let added = next(&of("an add"), &with("bare durable copy"));
        let aims = [("over MCP, wall: ", false)];
        has_aims(&[added], if *size != sizes[0] { &aims } else { &[] });
        for query in QUERIES {
            next(&of(&format!("a query {query}")), &with("bare read and parse"));
        }
        next(&of("a recall of 20"), &with("bare durable copy"));
    }
    assert_eq!(blocks.next(), None);
}

fn are_of_search(blocks: &[&str]) {
    let mut blocks = blocks.iter().copied();
    let mut next = |title: &str, names: &[&str], aims: &[(&str, bool)]| {
        let block = blocks.next().unwrap_or_else(|| panic!("{title} is missing"));
        has_lines(block, title, names);
        has_aims(&[block], aims);
    };
    let cpu = ("over MCP, CPU: ", true);
    let contestants = ["bare bm25", "the library", "over MCP"];
    next("a question of eight words, 40 records in SQLite", &contestants, &[cpu]);
    for peer in ["server-memory (npm)", "mcp-memory (crate)"] {
        // Peers may not be installed.
        next(&format!("a question beside {peer}, 40 records"), &["over MCP"], &[]);
    }
    let added = ["bare engine", "the library", "over MCP"];
    let aims = [cpu, ("over MCP, wall: ", false)];
    next("an add in SQLite, 40 memories", &added, &aims);
    next("a question of eight words, 80 records in SQLite", &contestants, &[cpu]);
    next("a question of eight words, 40 records in JSON", &contestants, &[]);
    let logs = "a question to 4 logs of 5 KB (aim: under 20 ms)";
    next(logs, &["bare bm25", "over MCP"], &[]);
    let store = "a question to a store of 20 memories in 4 categories";
    next(store, &["bare bm25", "over MCP"], &[]);
    let space = blocks.next().expect("space is missing");
    assert!(space.starts_with("space of 40 memories of 1 KB in SQLite\n"), "{space}");
    assert!(
        space.contains("\n  plain, with trigrams  ") && space.contains("\n  ours  "),
        "{space}"
    );
    has_aims(&[space], &[("ours, size: ", false)]);
    assert_eq!(blocks.next(), None);
}

fn are_of_layers(blocks: &[&str], sizes: &[&str]) {
    // Each search, and whether it has an aim.
    const SEARCHES: [(&str, bool); 10] = [
        ("for a word that is nowhere", false),
        ("for a rare word", true),
        ("for a middling word", true),
        ("for a word in a tenth", true),
        ("for three first letters", true),
        ("in the last half hour", false),
        ("in half an hour long ago", false),
        ("in a day long ago", false),
        ("in a quarter long ago", false),
        ("for a word in a tenth in a day long ago", false),
    ];
    let mut blocks = blocks.iter().copied();
    let mut next = |title: &str, names: &[&str], aims: &[(&str, bool)]| {
        let block = blocks.next().unwrap_or_else(|| panic!("{title} is missing"));
        has_lines(block, title, names);
        has_aims(&[block], aims);
    };
    for size in sizes {
        for (search, has_aim) in SEARCHES {
            let aims = [("over MCP, CPU: ", true)];
            let aims = if has_aim && *size != sizes[0] { &aims[..] } else { &[] };
            let title = format!("a search {search}, {size} episodes");
            next(&title, &["bare engine", "over MCP"], aims);
        }
        next(&format!("an add, {size} episodes"), &["bare engine", "over MCP"], &[]);
    }
    let last = sizes[sizes.len() - 1];
    for what in ["an add", "the latest 50", "`get_memory_summary`"] {
        let title = format!("{what}, from 40 to {last} episodes");
        let aims = [("the most episodes, CPU: ", true)];
        next(&title, &["the fewest episodes", "the most episodes"], &aims);
    }
    assert_eq!(blocks.next(), None);
}

fn are_of_stores(blocks: &[&str]) {
    const CALLS: [(&str, &str); 4] = [
        ("an add", "bare writes"),
        ("a list of one category", "bare reads"),
        ("the latest 5", "bare reads"),
        ("reindexing all", "bare reads"),
    ];
    let mut blocks = blocks.iter().copied();
    for shape in ["4 categories of 5", "one category of 20"] {
        for (call, bare) in CALLS {
            let block = blocks.next().unwrap_or_else(|| panic!("{call}, {shape} is missing"));
            has_lines(block, &format!("{call}, {shape}"), &[bare, "over MCP"]);
            let has_aim = call == "an add" && shape != "one category of 20";
            has_aims(&[block], if has_aim { &[("over MCP, CPU: ", true)] } else { &[] });
        }
    }
    assert_eq!(blocks.next(), None);
}

fn are_of_http(blocks: &[&str]) {
    let calls = ["a query of the latest memory", "a relaxed add"];
    assert_eq!(blocks.len(), calls.len());
    for (block, call) in blocks.iter().zip(calls) {
        let title = format!("{call} in SQLite, 40 memories");
        has_lines(block, &title, &["stdio, 1 client", "HTTP, 1 client", "HTTP, 16 clients"]);
        assert!(block.contains("  calls/s, ratio  ") && block.contains(" p99\n"), "{block}");
        let aim = "\naim: HTTP, 16 clients, calls a second: ";
        assert!(block.contains(aim) && block.contains(", to be at least "), "{block}");
    }
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
        assert!(comparison["aims"].is_array(), "{comparison}");
        let rows = comparison["rows"].as_array().expect("a list");
        assert_eq!(rows[0]["wall_ratio"]["median"], 1.0, "the first is what ratios are taken to");
        for row in rows {
            let of = |bound: &str| row["wall_us"][bound].as_f64().expect("a figure");
            assert!(0.0 < of("least") && of("least") <= of("median"), "{row}");
            assert!(of("median") <= of("most"), "{row}");
        }
    }
}
