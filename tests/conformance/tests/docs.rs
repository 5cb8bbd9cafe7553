//! `docs/tools.md` says what the component and the cases say. `BLESS=1` writes it.

use std::collections::BTreeMap;
use std::{env, fs};

use agent_memory_conformance::case::{Case, load_all};
use agent_memory_conformance::core_runner::tools_of;
use agent_memory_conformance::runner::error_code;
use agent_memory_conformance::workspace::repository_root;
use agent_memory_core::toolbox;
use serde_json::Value;

const TOOLSETS: [&str; 3] = ["sessions", "records", "layers"];

#[test]
fn the_page_of_tools_is_what_the_component_lists_and_the_cases_show() {
    let path = repository_root().join("docs/tools.md");
    let page = page(&load_all());
    if env::var_os("BLESS").is_some() {
        fs::write(&path, &page).expect("the page is writable");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/tools.md is not up to date: run \
         `BLESS=1 cargo test -p agent-memory-conformance --test docs`"
    );
}

fn page(cases: &[Case]) -> String {
    let mut page = "# Tools\n\nGenerated from the tools' schemas; the examples and the errors are those of the conformance cases.\n"
        .to_owned();
    for toolset in TOOLSETS {
        page += &format!("\n## `{toolset}`\n");
        for tool in tools_of(toolset) {
            page += &of_tool(toolset, &tool, cases);
        }
    }
    page
}

/// The table of the README between its marks.
#[test]
fn the_readme_has_the_settings_that_the_toolsets_describe() {
    const BEGIN: &str = "<!-- from the component's description -->\n";
    const END: &str = "<!-- end -->\n";
    let file = repository_root().join("README.md");
    let readme = fs::read_to_string(&file).expect("the README");
    let (before, rest) = readme.split_once(BEGIN).expect("the first mark");
    let (_, after) = rest.split_once(END).expect("the second mark");
    let written = format!("{before}{BEGIN}{}{END}{after}", settings());
    if env::var_os("BLESS").is_some() {
        fs::write(&file, written).expect("the README is writable");
        return;
    }
    let command = "`BLESS=1 cargo test -p agent-memory-conformance --test docs`";
    assert!(written == readme, "README.md is not up to date: run {command}");
}

fn settings() -> String {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let mut table =
        "| toolset | option | variable | meaning | default |\n|---|---|---|---|---|\n".to_owned();
    for toolset in described["toolsets"].as_array().expect("toolsets") {
        for setting in toolset["settings"].as_array().expect("settings") {
            let flag = text(setting, "flag");
            let variable = format!("AGENT_MEMORY_{}", flag.to_uppercase().replace('-', "_"));
            let others = setting["environment"].as_array().expect("variables").iter();
            let others = others.filter_map(Value::as_str).map(str::to_owned);
            let variables: Vec<_> = [variable].into_iter().chain(others).collect();
            table += &format!(
                "| `{}` | `--{flag}` | `{}` | {}{} | {} |\n",
                text(toolset, "name"),
                variables.join("`, `"),
                text(setting, "help"),
                words(setting),
                text(setting, "default_text"),
            );
        }
    }
    table
}

/// The words that a setting takes.
fn words(setting: &Value) -> String {
    let words = setting["schema"]["enum"].as_array().into_iter().flatten();
    let words: Vec<_> = words.filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
    if words.is_empty() { String::new() } else { format!(": {}", words.join(" or ")) }
}

fn of_tool(toolset: &str, tool: &Value, cases: &[Case]) -> String {
    let name = text(tool, "name");
    format!(
        "\n### `{name}`: {}\n\n{}\n\n{}\n\n{}\n{}\nIt returns\n\n{}\n{}",
        text(tool, "title").to_lowercase(),
        text(tool, "description"),
        hints(tool),
        fields(&tool["inputSchema"]),
        example(toolset, name, cases),
        fields(&tool["outputSchema"]),
        errors(toolset, name, cases),
    )
}

fn hints(tool: &Value) -> String {
    let is = |hint: &str| tool["annotations"][hint] == true;
    let effect = match (is("readOnlyHint"), is("destructiveHint")) {
        (true, _) => "Reads only",
        (false, true) => "May destroy",
        (false, false) => "Adds only",
    };
    let again = if is("idempotentHint") {
        "the same call again changes nothing"
    } else {
        "each call counts"
    };
    let audience = match text(tool, "audience") {
        "person" => " For people and programs: no model is offered it.",
        _ => "",
    };
    format!("{effect}; {again}.{audience}")
}

fn fields(schema: &Value) -> String {
    format!("| field | takes | |\n|---|---|---|\n{}", rows("", schema))
}

/// A row for each field, and below it those of what it is or what it is an array of.
fn rows(above: &str, schema: &Value) -> String {
    let none = Vec::new();
    let required = schema["required"].as_array().unwrap_or(&none);
    let mut rows = String::new();
    for (name, field) in schema["properties"].as_object().expect("properties") {
        let optional = if required.iter().any(|known| known == name) { "" } else { ", optional" };
        let description = field["description"].as_str().unwrap_or_default();
        let (field, or_null) = match field["anyOf"].as_array() {
            Some(branches) => (&branches[0], " or null"),
            None => (field, ""),
        };
        let kind = match text(field, "type") {
            "array" => {
                let items = &field["items"];
                let at_most = field["maxItems"].as_u64().map(|most| format!("at most {most} "));
                let of = text(items, "type");
                format!("array of {}{of}{}", at_most.unwrap_or_default(), bounds(items))
            }
            kind => kind.to_owned(),
        };
        let bounds = bounds(field);
        rows +=
            &format!("| `{above}{name}` | {kind}{bounds}{or_null}{optional} | {description} |\n");
        if field["items"]["properties"].is_object() {
            rows += &self::rows(&format!("{above}{name}[]."), &field["items"]);
        }
        if field["properties"].is_object() {
            rows += &self::rows(&format!("{above}{name}."), field);
        }
    }
    rows
}

fn bounds(field: &Value) -> String {
    let mut words = String::new();
    let number = |keyword: &str| field[keyword].as_u64();
    match (number("minLength"), number("maxLength")) {
        (Some(least), Some(most)) => words += &format!(", {least} to {most} characters"),
        (None, Some(most)) => words += &format!(", at most {most} characters"),
        _ => {}
    }
    match (number("minimum"), number("maximum")) {
        (Some(least), Some(most)) => words += &format!(", {least} to {most}"),
        (Some(least), None) => words += &format!(", at least {least}"),
        _ => {}
    }
    if let Some(values) = field["enum"].as_array() {
        let values: Vec<_> = values.iter().map(|value| format!("`{}`", string(value))).collect();
        words += &format!(": {}", values.join(" or "));
    }
    if let Some(pattern) = field["pattern"].as_str() {
        words += &format!(", `{}`", pattern.replace('|', "\\|"));
    }
    if let Some(format) = field["format"].as_str() {
        words += &format!(", a {format}");
    }
    words
}

fn string(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// The case `<toolset>/examples/<tool>`.
fn example(toolset: &str, tool: &str, cases: &[Case]) -> String {
    let name = format!("{toolset}/examples/{tool}");
    let case = cases.iter().find(|case| case.plain_name() == name);
    let steps = &case.unwrap_or_else(|| panic!("no case `{name}`")).text.steps;
    let step = steps.iter().find(|step| step.call == tool).expect("an example calls its tool");
    let result = step.result.as_ref().expect("an example has a result");
    format!("\n```json\n{:#}\n```\n\nanswers\n\n```json\n{result:#}\n```\n", step.arguments)
        .replace("${repo}", "/home/ada/project")
        .replace("${id:0}", "0e37df36-f698-41e6-8dd4-773df4bed3a0")
}

/// The codes that the cases show this tool to answer with, each with one case that shows it.
fn errors(toolset: &str, tool: &str, cases: &[Case]) -> String {
    let mut codes: BTreeMap<&str, &Case> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.toolsets() == [toolset]) {
        for step in case.text.steps.iter().filter(|step| step.call == tool) {
            if let Some(code) = step.error.as_ref().and_then(error_code) {
                codes.entry(code).or_insert(case);
            }
        }
    }
    let mut table = "\nIts errors\n\n| code | for example |\n|---|---|\n".to_owned();
    for (code, case) in codes {
        let link = format!("../tests/conformance/cases/{}.json", case.plain_name());
        table += &format!("| `{code}` | [{}]({link}) |\n", case.text.description);
    }
    table
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}
