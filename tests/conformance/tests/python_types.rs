//! The types of the Python package: a `TypedDict` for each tool's input and output and for each
//! toolset's settings, an overload of `call` and a method with keywords for each tool (`BLESS=1` writes
//! them).

use std::{env, fs};

use agent_memory_conformance::workspace::repository_root;
use agent_memory_core::toolbox;
use serde_json::{Map, Value};

/// Keywords of Python. They cannot name a field of a class or an argument of a method.
const KEYWORDS: [&str; 8] = ["as", "class", "from", "global", "import", "in", "is", "not"];

const PACKAGE: &str = "host-python/python/agent_memory";

#[test]
fn the_types_of_the_python_package_are_up_to_date() {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let toolsets = list(&described, "toolsets");
    let files = [
        ("toolsets.py", types(toolsets)),
        ("_calls.pyi", calls(toolsets)),
        ("_methods.pyi", methods(toolsets)),
    ];
    for (name, text) in files {
        let path = repository_root().join(PACKAGE).join(name);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &text).expect("the file is writable");
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "{PACKAGE}/{name} is not up to date: run \
             `BLESS=1 cargo test -p agent-memory-conformance --test python_types`"
        );
    }
}

/// The module of the types. At run time it is loaded only by a program that imports it.
fn types(toolsets: &[Value]) -> String {
    let mut module =
        "\"\"\"The inputs and outputs of the tools, and the settings of the toolsets.\n\n\
        Generated from the component's description.\n\"\"\"\n\n\
        from __future__ import annotations\n\n\
        import os\n\
        from typing import Literal, TypedDict, Union\n\n\
        Path = Union[str, \"os.PathLike[str]\"]\n"
            .to_owned();
    let names = toolsets.iter().map(|toolset| text(toolset, "name")).chain(["all"]);
    module +=
        &alias("ToolsetName", "The name that mounts a toolset; `all` mounts every one.", names);
    let places = toolsets.iter().flat_map(|toolset| list(toolset, "places"));
    let places = places.filter(|place| !list(place, "databases").is_empty());
    let about = "A place with a database.";
    module += &alias("DatabasePlace", about, places.map(|place| text(place, "label")));
    for toolset in toolsets {
        for tool in list(toolset, "tools") {
            let name = camel(name_of(tool));
            for (part, end) in [("inputSchema", "Input"), ("outputSchema", "Output")] {
                let about = format!("The {} of `{}`.", end.to_lowercase(), name_of(tool));
                module += &of_object(&format!("{name}{end}"), &about, &tool[part]);
            }
        }
    }
    let mut all = String::new();
    for toolset in toolsets.iter().filter(|toolset| !list(toolset, "settings").is_empty()) {
        let name = text(toolset, "name");
        let class = camel(name) + "Settings";
        module += &format!("\n\nclass {class}(TypedDict, total=False):\n");
        module += &format!("    \"\"\"The settings of `{name}`.\"\"\"\n");
        for setting in list(toolset, "settings") {
            let kind = if setting["is_path"] == true {
                "Path".to_owned()
            } else {
                value_type("", &setting["schema"], &mut String::new())
            };
            let default = text(setting, "default_text");
            let usual = if default.is_empty() { "" } else { " Default: " };
            let help = format!("{}.{usual}{default}", text(setting, "help").trim_end_matches('.'));
            module += &field(text(setting, "name"), &kind, &help);
        }
        all += &format!("    {name}: {class}\n");
    }
    let about = "The toolsets' own settings, by toolset.";
    module
        + &format!(
            "\n\nclass ToolsetSettings(TypedDict, total=False):\n    \"\"\"{about}\"\"\"\n\n{all}"
        )
}

/// The definition of a type that allows only these texts.
fn alias<'a>(name: &str, about: &str, texts: impl Iterator<Item = &'a str>) -> String {
    let texts: Vec<_> = texts.map(|text| format!("\"{text}\"")).collect();
    format!("\n#: {about}\n{name} = Literal[{}]\n", texts.join(", "))
}

/// The stub of the calls. A name that several toolsets share has an overload for each of them.
fn calls(toolsets: &[Value]) -> String {
    let names = toolsets.iter().map(|toolset| camel(text(toolset, "name")));
    let mut names: Vec<_> = names.flat_map(|name| [format!("Async{name}"), name]).collect();
    names.sort_unstable();
    let mut stub = format!(
        "# Generated from the component's description.\n\
        from collections.abc import Mapping\n\
        from typing import Any, Literal, overload\n\n\
        from . import toolsets\n\
        from ._methods import {}\n\
        from .outcome import Outcome\n",
        names.join(", ")
    );
    for (prefix, keyword) in [("", "def"), ("Async", "async def")] {
        stub += &format!("\nclass {prefix}Calls:\n");
        stub += &format!("    {keyword} _ask(self, kind: str, *texts: str) -> Outcome[Any]: ...\n");
        for name in toolsets.iter().map(|toolset| text(toolset, "name")) {
            let class = camel(name);
            stub += &format!("    @property\n    def {name}(self) -> {prefix}{class}: ...\n");
        }
        for tool in toolsets.iter().flat_map(|toolset| list(toolset, "tools")) {
            let class = camel(name_of(tool));
            let default = if tool["inputSchema"]["required"].is_array() { "" } else { " = ..." };
            let shared = Some(text(tool, "name")).filter(|name| *name != name_of(tool));
            for name in [name_of(tool)].into_iter().chain(shared) {
                stub += &format!(
                    "    @overload\n    {keyword} call(\n        self,\n        \
                     name: Literal[\"{name}\"],\n        \
                     arguments: toolsets.{class}Input{default},\n    \
                     ) -> Outcome[toolsets.{class}Output]: ...\n"
                );
            }
        }
        stub += &format!(
            "    {keyword} call_by_name(self, name: str, arguments: Mapping[str, Any] | None = ...) \
             -> Outcome[Any]: ...\n"
        );
    }
    stub
}

/// The stub of the methods: a class for each toolset, with a method for each of its tools.
fn methods(toolsets: &[Value]) -> String {
    let mut stub = "# Generated from the component's description.\n\
        from collections.abc import Awaitable, Callable, Sequence\n\
        from typing import Any, Literal\n\n\
        from . import toolsets\n\n\
        class Toolset:\n    \
        def __init__(self, name: str, tools: Sequence[str], call: Callable[..., Any]) -> None: ...\n\n\
        class AsyncToolset(Toolset):\n    \
        def __init__(\n        \
        self, name: str, tools: Sequence[str], call: Callable[..., Awaitable[Any]]\n    \
        ) -> None: ...\n"
        .to_owned();
    for (prefix, keyword) in [("", "def"), ("Async", "async def")] {
        for toolset in toolsets {
            let name = text(toolset, "name");
            stub += &format!("\nclass {prefix}{}({prefix}Toolset):\n", camel(name));
            stub += &format!("    \"\"\"The tools of `{name}`.\"\"\"\n");
            for tool in list(toolset, "tools") {
                stub += &method(tool, keyword);
            }
        }
    }
    stub
}

/// The method of a tool, with a keyword argument for each argument. A name in [`KEYWORDS`] gets a `_`
/// at its end.
fn method(tool: &Value, keyword: &str) -> String {
    let class = camel(name_of(tool));
    let schema = &tool["inputSchema"];
    let mut required = String::new();
    let mut optional = String::new();
    let mut about = String::new();
    for (key, of) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let part = format!("{class}Input{}", camel(key));
        let kind = value_type(&part, of, &mut String::new());
        let kind = kind.replace(&part, &format!("toolsets.{part}"));
        let end = if KEYWORDS.contains(&key.as_str()) { "_" } else { "" };
        if list(schema, "required").iter().any(|known| known == key) {
            required += &format!("        {key}{end}: {kind},\n");
        } else {
            optional += &format!("        {key}{end}: {kind} = ...,\n");
        }
        let description = of["description"].as_str().unwrap_or_default();
        about += &format!("        {key}{end}: {}\n", one_line(description));
    }
    let star = if about.is_empty() { "" } else { "        *,\n" };
    if !about.is_empty() {
        about.insert_str(0, "\n        Arguments:\n\n");
    }
    format!(
        "\n    {keyword} {}(\n        self,\n{star}{required}{optional}    \
         ) -> toolsets.{class}Output:\n        r\"\"\"{}\n{about}        \"\"\"\n",
        text(tool, "name"),
        one_line(text(tool, "description"))
    )
}

/// A text in one line of a docstring.
fn one_line(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

/// The class of an object, after the classes of the objects in it.
fn of_object(name: &str, about: &str, schema: &Value) -> String {
    let mut inner = String::new();
    let mut required = String::new();
    let mut optional = String::new();
    let mut base = "TypedDict".to_owned();
    let is_required = |name: &str| list(schema, "required").iter().any(|known| known == name);
    for (key, of) in schema["properties"].as_object().unwrap_or(&Map::new()) {
        let kind = value_type(&format!("{name}{}", camel(key)), of, &mut inner);
        if KEYWORDS.contains(&key.as_str()) {
            let class = format!("_{name}{}", camel(key));
            let total = is_required(key);
            let total = if total { "" } else { ", total=False" };
            inner += &format!(
                "\n\n{class} = TypedDict(\"{class}\", {{\"{key}\": \"{kind}\"}}{total})\n"
            );
            assert!(base == "TypedDict", "`{name}` has two keywords of Python");
            base = class;
            continue;
        }
        let fields = if is_required(key) { &mut required } else { &mut optional };
        *fields += &field(key, &kind, of["description"].as_str().unwrap_or_default());
    }
    let class = |name: &str, base: &str, fields: &str| {
        format!("\n\nclass {name}({base}):\n    \"\"\"{about}\"\"\"\n{fields}")
    };
    if optional.is_empty() {
        return inner + &class(name, &base, &required);
    }
    if !required.is_empty() {
        let required = class(&format!("_{name}"), &base, &required);
        (inner, base) = (inner + &required, format!("_{name}"));
    }
    inner + &class(name, &format!("{base}, total=False"), &optional)
}

/// The type of a value. The classes of the objects in it are added to `inner`.
fn value_type(name: &str, schema: &Value, inner: &mut String) -> String {
    if let Some(branches) = schema["anyOf"].as_array() {
        let branches: Vec<_> = branches.iter().map(|one| value_type(name, one, inner)).collect();
        return branches.join(" | ");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<_> = values.iter().map(Value::to_string).collect();
        return format!("Literal[{}]", values.join(", "));
    }
    match schema["type"].as_str() {
        Some("string") => "str".to_owned(),
        Some("integer") => "int".to_owned(),
        Some("number") => "float".to_owned(),
        Some("boolean") => "bool".to_owned(),
        Some("null") => "None".to_owned(),
        Some("array") => format!("list[{}]", value_type(name, &schema["items"], inner)),
        Some("object") if schema["properties"].is_object() => {
            *inner += &of_object(name, "A part of the class below.", schema);
            name.to_owned()
        }
        Some("object") => {
            let values = &schema["additionalProperties"];
            let of =
                if values.is_object() { value_type(name, values, inner) } else { "object".into() };
            format!("dict[str, {of}]")
        }
        _ => panic!("`{name}` has a type that Python's types do not show yet: {schema}"),
    }
}

fn field(name: &str, kind: &str, about: &str) -> String {
    let lines = about.lines().filter(|line| !line.is_empty());
    let about: String = lines.map(|line| format!("    #: {line}\n")).collect();
    format!("\n{about}    {name}: {kind}\n")
}

/// A name that no other tool has: the qualified name if toolsets share the tool's own name.
fn name_of(tool: &Value) -> &str {
    text(tool, if list(tool, "shared_with").is_empty() { "name" } else { "qualified_name" })
}

fn camel(name: &str) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    name.split('_').filter(|word| !word.is_empty()).map(capital).collect()
}

fn list<'a>(of: &'a Value, field: &str) -> &'a [Value] {
    of[field].as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(of: &'a Value, field: &str) -> &'a str {
    of[field].as_str().unwrap_or_default()
}
