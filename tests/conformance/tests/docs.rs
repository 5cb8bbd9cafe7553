//! The documentation: generated parts agree with the component and the cases (`BLESS=1` writes them),
//! links have a target, and the pages that everybody reads stay short.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use agent_memory_conformance::case::{Case, load_all};
use agent_memory_conformance::core_runner::{tools_of, toolsets};
use agent_memory_conformance::faults::table;
use agent_memory_conformance::runner::error_code;
use agent_memory_conformance::workspace::{repository_root, source};
use agent_memory_core::toolbox;
use serde_json::Value;

#[test]
fn the_page_of_tools_is_up_to_date() {
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
    let mut page = "# Tools\n\nGenerated from the tools' schemas; the examples and the errors are those of the conformance cases.\n\nArguments are understood as clients send them: null or an empty text leaves an optional argument out. The JSON text of a list, of a number or of a boolean is that value. What is refused is named with what the tool accepts.\n"
        .to_owned();
    for toolset in toolsets() {
        page += &format!("\n## `{toolset}`\n");
        for tool in tools_of(&toolset) {
            page += &of_tool(&toolset, &tool, cases);
        }
    }
    page
}

/// A stored instruction must not look like one of the program or of the user.
#[test]
fn each_toolset_and_each_resource_says_that_stored_text_is_data() {
    let says =
        |described: &Value| text(described, "description").contains("data, not instructions");
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    for toolset in described["toolsets"].as_array().expect("toolsets") {
        let list = |name: &str| toolset[name].as_array().expect("a list").iter();
        let name = text(toolset, "name");
        assert!(list("tools").any(says), "`{name}` has no tool that says it");
        let silent = list("resources").chain(list("resource_templates")).find(|of| !says(of));
        assert_eq!(silent, None, "`{name}`");
    }
}

#[test]
fn the_search_names_the_toolsets_that_it_can_search() {
    let tools = tools_of("memory");
    let search = tools.iter().find(|tool| tool["name"] == "search_memory").expect("it is listed");
    let described = text(&search["inputSchema"]["properties"]["toolsets"], "description");
    for toolset in toolsets().iter().filter(|toolset| *toolset != "memory") {
        assert!(described.contains(&format!("`{toolset}`")), "{toolset}: {described}");
    }
}

/// The description is compared with the table between the marks of the page.
#[test]
fn the_page_of_the_command_line_has_the_settings_that_the_toolsets_describe() {
    const PAGE: &str = "docs/command-line.md";
    const BEGIN: &str = "<!-- from the component's description -->\n";
    const END: &str = "<!-- end -->\n";
    let file = repository_root().join(PAGE);
    let page = fs::read_to_string(&file).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the first mark");
    let (_, after) = rest.split_once(END).expect("the second mark");
    let written = format!("{before}{BEGIN}{}{END}{after}", settings());
    if env::var_os("BLESS").is_some() {
        fs::write(&file, written).expect("the page is writable");
        return;
    }
    let command = "`BLESS=1 cargo test -p agent-memory-conformance --test docs`";
    assert!(written == page, "{PAGE} is not up to date: run {command}");
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

/// The values that a setting accepts.
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
    let visible = if tool["always_visible"] == true { " A model always sees it." } else { "" };
    format!("{effect}; {again}.{audience}{visible}")
}

fn fields(schema: &Value) -> String {
    format!("| field | takes | |\n|---|---|---|\n{}", rows("", schema))
}

/// A row for each field. The fields of an object, or of the items of an array, follow it.
fn rows(above: &str, schema: &Value) -> String {
    let none = Vec::new();
    let required = schema["required"].as_array().unwrap_or(&none);
    let mut rows = String::new();
    for (name, field) in schema["properties"].as_object().expect("properties") {
        let optional = if required.iter().any(|known| known == name) { "" } else { ", optional" };
        let description = field["description"].as_str().unwrap_or_default();
        let (field, or_other) = match field["anyOf"].as_array() {
            Some(branches) => (&branches[0], format!(" or {}", text(&branches[1], "type"))),
            None => (field, String::new()),
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
            &format!("| `{above}{name}` | {kind}{bounds}{or_other}{optional} | {description} |\n");
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

/// The example of a tool: the case `<toolset>/examples/<tool>`.
fn example(toolset: &str, tool: &str, cases: &[Case]) -> String {
    let name = format!("{toolset}/examples/{tool}");
    let case = cases.iter().find(|case| case.plain_name() == name);
    let steps = &case.unwrap_or_else(|| panic!("no case `{name}`")).text.steps;
    let step = steps.iter().find(|step| step.name() == tool).expect("an example calls its tool");
    let result = step.result.as_ref().expect("an example has a result");
    format!("\n```json\n{:#}\n```\n\nanswers\n\n```json\n{result:#}\n```\n", step.arguments())
        .replace("${repo}", "/home/ada/project")
        .replace("${id:0}", "0e37df36-f698-41e6-8dd4-773df4bed3a0")
}

/// The error codes of a tool, each with a case or a storage error that leads to it.
fn errors(toolset: &str, tool: &str, cases: &[Case]) -> String {
    let mut codes: BTreeMap<String, String> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.toolsets() == [toolset]) {
        for step in case.text.steps.iter().filter(|step| step.name() == tool) {
            if let Some(code) = step.error.as_ref().and_then(error_code) {
                let path = format!("../tests/conformance/cases/{}.json", case.plain_name());
                let example = || format!("[{}]({path})", case.text.description);
                codes.entry(code.to_owned()).or_insert_with(example);
            }
        }
    }
    for row in table::load().iter().filter(|row| row.tool(cases) == tool) {
        for (error, code) in row.errors() {
            let path = "../tests/conformance/storage-errors.json";
            let example = || format!("[storage: `{error}` of `{}`]({path})", row.operation());
            codes.entry(code.to_owned()).or_insert_with(example);
        }
    }
    let mut table = "\nIts errors\n\n| code | for example |\n|---|---|\n".to_owned();
    for (code, example) in codes {
        table += &format!("| `{code}` | {example} |\n");
    }
    table
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no text `{field}` in {value}"))
}

/// Words are counted as by `wc -w`.
#[test]
fn the_pages_that_everybody_reads_are_short() {
    for (page, most) in [("README.md", 900), ("ARCHITECTURE.md", 2_500)] {
        let words = source(page).split_whitespace().count();
        assert!(words <= most, "{page} has {words} words, of at most {most}");
    }
}

#[test]
fn every_link_of_a_page_leads_to_a_file_and_a_heading() {
    let root = repository_root();
    let mut pages: Vec<PathBuf> =
        ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"]
            .map(PathBuf::from)
            .into();
    pages.extend(pages_below(&root, Path::new("docs")));
    let readmes =
        ["bench", "fuzz", "host-node", "host-python", "tests/clients", "tests/conformance"];
    let readmes = readmes.map(|folder| Path::new(folder).join("README.md"));
    pages.extend(readmes.into_iter().filter(|readme| root.join(readme).exists()));

    let mut found = 0;
    let mut dead = Vec::new();
    for page in &pages {
        for link in links(&source(page.to_str().expect("UTF-8"))) {
            found += 1;
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let folder = root.join(page.parent().expect("a folder"));
            let target = if path.is_empty() { root.join(page) } else { folder.join(path) };
            let has_heading = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                anchor.is_empty() || headings(&text).iter().any(|heading| heading == anchor)
            };
            if !target.exists() || !has_heading() {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(found > 50, "the links are not found: {found}");
    assert!(dead.is_empty(), "links that lead nowhere:\n{}", dead.join("\n"));
}

fn pages_below(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in fs::read_dir(root.join(folder)).expect("a folder of pages") {
        let entry = entry.expect("an entry");
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            pages.extend(pages_below(root, &path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages
}

/// The lines that are not in a fence.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut in_fence = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        in_fence ^= is_fence;
        !in_fence && !is_fence
    })
}

/// The targets of links within the repository.
fn links(page: &str) -> Vec<String> {
    let targets = prose(page).flat_map(|line| line.split("](").skip(1));
    let targets = targets.filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    targets.filter(|target| !target.contains("://")).map(str::to_owned).collect()
}

/// The anchors of a page's headings, as GitHub makes them.
fn headings(page: &str) -> Vec<String> {
    let headings = prose(page).filter_map(|line| {
        let text = line.trim_start_matches('#');
        (text.len() < line.len()).then(|| text.strip_prefix(' ')).flatten()
    });
    let kept = |sign: &char| sign.is_alphanumeric() || ['-', '_', ' '].contains(sign);
    let anchor = |text: &str| text.to_lowercase().chars().filter(kept).collect::<String>();
    headings.map(|text| anchor(text).replace(' ', "-")).collect()
}

#[test]
fn links_and_anchors_are_found() {
    let page = "# One `two`: 3\n\n[a](b.md#c) and [d](#e), [f](https://g.h)\n```sh\n# no [i](j)\n```\n## K l\n";
    assert_eq!(links(page), ["b.md#c", "#e"]);
    assert_eq!(headings(page), ["one-two-3", "k-l"]);
}
