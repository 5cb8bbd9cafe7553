//! The functions of the plugin, one for each tool for models, for hosts that make a tool of each
//! exported function (`BLESS=1` writes them).

use std::{env, fs};

use agent_memory_conformance::workspace::repository_root;
use agent_memory_core::toolbox;
use serde_json::Value;

/// These toolsets keep everything in a database, which a plugin does not have.
const LEFT_OUT: [&str; 2] = ["layers", "items"];

#[test]
fn the_functions_of_the_plugin_are_up_to_date() {
    let described: Value = serde_json::from_str(&toolbox::describe()).expect("JSON");
    let toolsets = described["toolsets"].as_array().expect("a list");
    let toolsets: Vec<_> =
        toolsets.iter().filter(|toolset| !LEFT_OUT.contains(&text(toolset, "name"))).collect();
    for (file, written) in [
        ("wit/tools.wit", interfaces(&toolsets)),
        ("src/component/functions.rs", functions(&toolsets)),
    ] {
        let path = repository_root().join("host-wasi").join(file);
        if env::var_os("BLESS").is_some() {
            fs::write(&path, &written).expect("the file is writable");
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == written,
            "host-wasi/{file} is not up to date: run \
             `BLESS=1 cargo test -p agent-memory-conformance --test plugin_functions`"
        );
    }
}

/// A parameter of a function.
struct Parameter<'a> {
    name: &'a str,
    description: &'a str,
    /// The type in WIT and in Rust, without the option.
    types: (&'static str, &'static str),
    is_required: bool,
}

/// The tools for models of a toolset, each with its parameters.
fn tools(toolset: &Value) -> Vec<(&Value, Vec<Parameter<'_>>)> {
    let tools = toolset["tools"].as_array().expect("a list").iter();
    tools.filter(|tool| tool["audience"] == "model").map(|tool| (tool, parameters(tool))).collect()
}

fn parameters(tool: &Value) -> Vec<Parameter<'_>> {
    let schema = &tool["inputSchema"];
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, schema)| Parameter {
            name,
            description: schema["description"].as_str().unwrap_or_default(),
            types: types(schema),
            is_required: required.iter().any(|one| one == name),
        })
        .collect()
}

fn types(schema: &Value) -> (&'static str, &'static str) {
    match schema["type"].as_str() {
        Some("integer") => ("s64", "i64"),
        Some("boolean") => ("bool", "bool"),
        Some("array") if schema["items"]["type"] == "string" => ("list<string>", "Vec<String>"),
        Some("array") if schema["items"]["type"] == "integer" => ("list<s64>", "Vec<i64>"),
        // Without `type`, the schema allows a text or null. Only `call` can pass null.
        Some("string") | None => ("string", "String"),
        Some(other) => panic!("a parameter of type `{other}` has no type in WIT yet"),
    }
}

fn interfaces(toolsets: &[&Value]) -> String {
    // No doc comment: a package may have only one, and it is in another file.
    let mut wit = "package agent-memory:plugin@0.1.0;\n".to_owned();
    for toolset in toolsets {
        wit += &format!(
            "\n/// {}.\n///\n\
             /// A function for each tool, if the settings mount the toolset. A result is JSON, as the\n\
             /// output schema of the tool describes it. Only `call` can pass null.\n\
             interface {} {{\n    use types.{{error}};\n",
            text(toolset, "description"),
            text(toolset, "name"),
        );
        for (tool, parameters) in tools(toolset) {
            wit += &format!("\n    /// {}\n", text(tool, "description"));
            for parameter in &parameters {
                wit +=
                    &format!("    /// - `{}`: {}\n", kebab(parameter.name), parameter.description);
            }
            let typed = |parameter: &Parameter<'_>| {
                let kind = parameter.types.0;
                let name = kebab(parameter.name);
                if parameter.is_required {
                    format!("%{name}: {kind}")
                } else {
                    format!("%{name}: option<{kind}>")
                }
            };
            let typed: Vec<_> = parameters.iter().map(typed).collect();
            wit += &format!(
                "    {}: func({}) -> result<string, error>;\n",
                kebab(text(tool, "name")),
                typed.join(", ")
            );
        }
        wit += "}\n";
    }
    wit
}

fn functions(toolsets: &[&Value]) -> String {
    let mut code = "//! Generated from the core's description of its tools.\n\n\
                    export_tools! {\n"
        .to_owned();
    for toolset in toolsets {
        code += &format!("    {} {{\n", text(toolset, "name"));
        for (tool, parameters) in tools(toolset) {
            let typed = |parameter: &Parameter<'_>| {
                let kind = parameter.types.1;
                let name = if parameter.name == "type" { "r#type" } else { parameter.name };
                if parameter.is_required {
                    format!("{name}: {kind}")
                } else {
                    format!("{name}: Option<{kind}>")
                }
            };
            let typed: Vec<_> = parameters.iter().map(typed).collect();
            code += &format!(
                "        {} = {:?} ({});\n",
                text(tool, "name"),
                text(tool, "qualified_name"),
                typed.join(", ")
            );
        }
        code += "    }\n";
    }
    code + "}\n"
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().expect("a text")
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}
