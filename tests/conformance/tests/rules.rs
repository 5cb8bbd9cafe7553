//! Every rule in `tests/conformance/rules/` names an existing case or test, and every case is named
//! by a rule.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use agent_memory_conformance::case::load_all;
use agent_memory_conformance::core_runner::toolsets;
use agent_memory_conformance::workspace::{files, source};

/// A rule with the names of the cases and tests that check it.
#[derive(Debug, PartialEq)]
struct Rule {
    line: usize,
    text: String,
    held_by: Vec<String>,
}

/// The rules of a page: its list items. The names of cases and tests are in backticks after
/// `Held by`.
fn rules(page: &str) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    let mut within = false;
    for (index, line) in page.lines().enumerate() {
        if let Some(text) = line.strip_prefix("- ") {
            rules.push(Rule { line: index + 1, text: text.into(), held_by: Vec::new() });
        }
        within = line.starts_with("- ") || (within && line.starts_with("  "));
        if let Some(rule) = rules.last_mut().filter(|_| within) {
            let names = line.trim().strip_prefix("Held by ").into_iter();
            let names = names.flat_map(|names| names.split('`').skip(1).step_by(2));
            rule.held_by.extend(names.map(str::to_owned));
        }
    }
    rules
}

/// Whether a name in a rule matches a case: `topic/case`, with `*` for any text without `/`.
fn names_case(name: &str, case: &str) -> bool {
    match name.split_once('*') {
        Some((start, end)) => {
            let rest = case.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
            rest.is_some_and(|rest| !rest.contains('/'))
        }
        None => name == case,
    }
}

/// The errors in a page of rules. `cases` and `tests` have the names of all cases and tests.
fn complaints(rules: &[Rule], cases: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut held: BTreeSet<&str> = BTreeSet::new();
    for Rule { line, text, held_by } in rules {
        if held_by.is_empty() {
            found.push(format!("line {line}: no case and no test checks `{text}`"));
        }
        for name in held_by {
            let named: Vec<_> = cases.iter().filter(|case| names_case(name, case)).collect();
            held.extend(named.iter().map(|case| case.as_str()));
            if named.is_empty() && !tests.contains(name) {
                found.push(format!("line {line}: there is no case and no test `{name}`"));
            }
        }
    }
    let unheld = cases.iter().filter(|case| !held.contains(case.as_str()));
    found.extend(unheld.map(|case| format!("no rule names the case `{case}`")));
    found
}

/// The names of all tests: functions in Rust, texts in Node.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let folders = [
        "core-component",
        "host-native",
        "host-node/test",
        "host-wasi/tests",
        "storage",
        "tests/conformance/src",
        "tests/conformance/tests",
        "tests/src",
        "tests/tests",
    ];
    for file in folders.into_iter().flat_map(files) {
        if file.ends_with(".rs") {
            names.extend(rust_tests(&source(&file)));
        } else if file.ends_with(".ts") {
            names.extend(node_tests(&source(&file)));
        }
    }
    names
}

fn rust_tests(text: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim);
    let next = || loop {
        let line = lines.next()?;
        if !(line.starts_with("#[test]") || line.starts_with("#[tokio::test")) {
            continue;
        }
        let of_function = |line: &&str| line.starts_with("fn ") || line.starts_with("async fn ");
        let function = lines.find(of_function)?;
        let name = function.split("fn ").nth(1)?.split('(').next()?;
        return Some(name.to_owned());
    };
    iter::from_fn(next).collect()
}

fn node_tests(text: &str) -> Vec<String> {
    let names =
        text.lines().filter_map(|line| line.trim().strip_prefix("test('")?.split_once('\''));
    names.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn every_rule_names_a_case_or_test_and_every_case_has_a_rule() {
    let mut cases: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for case in load_all() {
        let (toolset, name) =
            case.plain_name().split_once('/').expect("cases are in a toolset's folder");
        cases.entry(toolset.to_owned()).or_default().insert(name.to_owned());
    }
    let toolsets: BTreeSet<String> = toolsets().into_iter().collect();
    assert!(cases.keys().eq(&toolsets), "{:?} have cases, of {toolsets:?}", cases.keys());
    let tests = tests();
    let this = "every_rule_names_a_case_or_test_and_every_case_has_a_rule";
    assert!(tests.contains(this), "{tests:?}");
    for (toolset, cases) in &cases {
        let page = format!("tests/conformance/rules/{toolset}.md");
        let rules = rules(&source(&page));
        println!("{toolset}: {} rules, {} cases", rules.len(), cases.len());
        let found = complaints(&rules, cases, &tests);
        assert!(found.is_empty(), "{page}: {} complaints:\n{}", found.len(), found.join("\n"));
    }
}

#[test]
fn every_invariant_of_the_architecture_is_held_by_tests_that_exist() {
    let page = source("ARCHITECTURE.md");
    let (_, invariants) = page.split_once("\n## Invariants\n").expect("the heading");
    let invariants = invariants.split("\n## ").next().expect("the part");
    let rules = rules(invariants);
    assert!(rules.len() > 10, "the list of invariants is not found: {rules:?}");
    let found = complaints(&rules, &BTreeSet::new(), &tests());
    assert!(found.is_empty(), "ARCHITECTURE.md, Invariants:\n{}", found.join("\n"));
}

#[test]
fn unchecked_rules_unknown_names_and_cases_without_a_rule_are_found() {
    let page = "# Rules\n\n- one\n  Held by `a/x`, `a/y-*`\n- two\n  in two lines\n\
                \n  Held by `it_works`\n- three\n\nHeld by `a/x`\n";
    let rules = rules(page);
    let held_by: Vec<_> = rules.iter().map(|rule| rule.held_by.join(" ")).collect();
    assert_eq!(held_by, ["a/x a/y-*", "", ""]);
    assert_eq!(rules.iter().map(|rule| rule.line).collect::<Vec<_>>(), [3, 5, 9]);

    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let found = complaints(&rules[..1], &set(&["a/x", "a/y-1", "a/y-2"]), &set(&[]));
    assert_eq!(found, Vec::<String>::new());
    let found = complaints(&rules[..2], &set(&["a/x", "b/y-1"]), &set(&["a/y-*"]));
    let expected = ["line 5: no case and no test checks `two`", "no rule names the case `b/y-1`"];
    assert_eq!(found, expected);
    let found = complaints(&rules[..1], &set(&["a/x"]), &set(&[]));
    assert_eq!(found, ["line 3: there is no case and no test `a/y-*`"]);
}

#[test]
fn tests_are_found_by_their_names() {
    let rust = "#[test]\nfn one() {}\n\nfn none() {}\n#[tokio::test]\n#[ignore]\nasync fn two() {";
    assert_eq!(rust_tests(rust), ["one", "two"]);
    assert_eq!(node_tests("test('it works', () => {\n  test(`each`, f)\n"), ["it works"]);
}
