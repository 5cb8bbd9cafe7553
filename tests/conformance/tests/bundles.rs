//! The bundles that clients install. Their files are valid, name tools and commands that exist, and
//! have the version of this workspace.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use agent_memory_conformance::workspace::{files, repository_root, source};
use agent_memory_core::toolbox;
use serde_json::Value;

const SKILL: &str = "bundles/skills/agent-memory/SKILL.md";
const PLACEHOLDER: &str = "@VERSION@";

fn json(path: &str) -> Value {
    serde_json::from_str(&source(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The files of JSON in `bundles/`.
fn manifests() -> Vec<String> {
    // The files in hidden directories are not listed.
    let hidden = [
        "bundles/.agents/plugins/marketplace.json",
        "bundles/.claude-plugin/marketplace.json",
        "bundles/claude-code/.claude-plugin/plugin.json",
        "bundles/codex/.codex-plugin/plugin.json",
    ];
    let all = files("bundles").into_iter().chain(hidden.map(str::to_owned));
    all.filter(|path| path.ends_with(".json")).collect()
}

fn described() -> Value {
    serde_json::from_str(&toolbox::describe()).expect("JSON")
}

/// Finds the values of all fields of a name, at any depth.
fn all<'a>(value: &'a Value, name: &str, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(name));
            fields.values().for_each(|value| all(value, name, found));
        }
        Value::Array(items) => items.iter().for_each(|value| all(value, name, found)),
        _ => {}
    }
}

#[test]
fn every_version_is_that_of_the_workspace() {
    for path in manifests() {
        let manifest = json(&path);
        let mut versions = Vec::new();
        all(&manifest, "version", &mut versions);
        assert!(versions.iter().all(|version| **version == PLACEHOLDER), "{path}: {versions:?}");
    }
    assert!(source("bundles/launch.mjs").contains(&format!("'agent-memory@{PLACEHOLDER}'")));
}

/// The words after the launcher or the package in a command.
fn started(command: &Value) -> Vec<String> {
    let line = command["command"].as_str().expect("a command");
    let arguments = command["args"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words = line.split_whitespace().chain(arguments).map(|word| word.replace('"', ""));
    let is_ours = |word: &String| {
        word.ends_with("/launch.mjs") || *word == format!("agent-memory@{PLACEHOLDER}")
    };
    let mut words = words.skip_while(|word| !is_ours(word) && !word.ends_with("}launch.mjs"));
    assert!(words.next().is_some(), "{command} does not start this program");
    words.collect()
}

#[test]
fn every_command_exists() {
    let described = described();
    let toolsets = described["toolsets"].as_array().expect("toolsets");
    let toolsets: Vec<&str> = toolsets.iter().filter_map(|one| one["name"].as_str()).collect();
    let help = source("host-native/tests/help/hook.txt");
    let mut servers = 0;
    let mut hooks = 0;
    let mut of_hooks = BTreeSet::new();
    let mut of_servers = BTreeSet::new();
    let plugin = |path: &str| path.split('/').nth(1).expect("a directory").to_owned();
    for path in manifests().iter().filter(|path| !path.ends_with("marketplace.json")) {
        let manifest = json(path);
        let mut commands = Vec::new();
        all(&manifest, "command", &mut commands);
        let count = commands.len();
        let mut holders = Vec::new();
        holding(&manifest, &mut holders);
        assert_eq!(holders.len(), count, "{path}");
        for command in holders {
            match &started(command)[..] {
                [serve, toolset] if serve == "serve" => {
                    servers += 1;
                    let names = toolset.strip_prefix("--toolset=").expect("toolsets");
                    let unknown = names.split(',').find(|name| !toolsets.contains(name));
                    assert_eq!(unknown, None, "{path}");
                    of_servers.insert((plugin(path), toolset.clone()));
                }
                [hook, client, event, toolset] if hook == "hook" => {
                    hooks += 1;
                    of_hooks.insert((plugin(path), toolset.clone()));
                    assert!(
                        path.contains(client.as_str()),
                        "{path} is for another client: {client}"
                    );
                    let is_known = |value: &str| {
                        let lists = help.lines().filter(|line| line.contains("possible values: "));
                        lists.flat_map(|line| line.split([',', ' ', ']'])).any(|one| one == value)
                    };
                    assert!(is_known(client) && is_known(event), "{path}: {client} {event}");
                }
                other => panic!("{path} starts {other:?}"),
            }
        }
    }
    assert_eq!((servers, hooks), (5, 3));
    assert!(of_hooks.is_subset(&of_servers), "{of_hooks:?} {of_servers:?}");
}

/// Finds all objects with a command, at any depth.
fn holding<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.contains_key("command").then_some(value));
            fields.values().for_each(|value| holding(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| holding(value, found)),
        _ => {}
    }
}

#[test]
fn the_skill_names_only_tools_and_arguments_that_exist() {
    let described = described();
    let mut known = BTreeSet::new();
    let mut tools = BTreeSet::new();
    for toolset in described["toolsets"].as_array().expect("toolsets") {
        let is_mounted =
            ["sessions", "records", "memory"].iter().any(|name| toolset["name"] == *name);
        for tool in toolset["tools"].as_array().expect("tools").iter().filter(|_| is_mounted) {
            let schema = ["inputSchema", "input_schema", "outputSchema", "output_schema"];
            for schema in schema.iter().filter_map(|name| tool[*name]["properties"].as_object()) {
                known.extend(schema.keys().cloned());
            }
            tools.insert(tool["name"].as_str().expect("a name").to_owned());
        }
    }
    let skill = source(SKILL);
    let words: BTreeSet<&str> = skill.split('`').skip(1).step_by(2).collect();
    let named: Vec<&str> = words.iter().copied().filter(|word| tools.contains(*word)).collect();
    assert!(named.len() >= 9, "{named:?}");
    let unknown: Vec<&&str> = words
        .iter()
        .filter(|word| word.contains('_') || word.ends_with("_id"))
        .filter(|word| !tools.contains(**word) && !known.contains(**word))
        .collect();
    assert!(unknown.is_empty(), "the skill names {unknown:?}; known: {known:?}");
}

#[test]
fn the_skill_is_one_page_and_says_when_to_use_it() {
    let skill = source(SKILL);
    let (front, body) = skill
        .strip_prefix("---\n")
        .and_then(|text| text.split_once("\n---\n"))
        .expect("front matter");
    let field = |name: &str| front.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    assert_eq!(field("name: "), "agent-memory");
    assert!(Path::new(SKILL).parent().is_some_and(|directory| directory.ends_with("agent-memory")));
    // The specification of skills allows 1,024 characters.
    assert!(field("description: ").chars().count() <= 1024);
    let words = body.split_whitespace().count();
    assert!(words <= 800, "it has {words} words");
}

#[test]
fn the_registry_leads_to_the_npm_package_that_names_it() {
    let server = json("bundles/server.json");
    let package = json("host-node/package.json");
    assert_eq!(server["name"], package["mcpName"]);
    assert_eq!(server["packages"][0]["identifier"], package["name"]);
    assert!(server["description"].as_str().is_some_and(|text| text.chars().count() <= 100));
}

#[test]
fn the_script_makes_them_with_the_version() {
    let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
    let python = env::var("AGENT_MEMORY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", is_new]).status();
    if !found.is_ok_and(|status| status.success()) {
        let is_forbidden =
            |name: &str| env::var(name).is_ok_and(|value| value == "1" || value == "true");
        assert!(
            !["AGENT_MEMORY_NO_SKIPS", "CI"].into_iter().any(is_forbidden),
            "Python 3.11 is missing"
        );
        println!("skipped: bundles::the_script_makes_them_with_the_version: no Python 3.11");
        return;
    }
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bundles");
    let run = || {
        let mut script = Command::new(&python);
        script.arg("-B").arg(repository_root().join("release/bundles.py")).arg(&directory);
        let output = script.output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        let mut bytes = Vec::new();
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_file() {
                bytes.push((path.clone(), fs::read(&path).expect("a file")));
            }
        }
        bytes.sort();
        bytes
    };
    let first = run();
    assert_eq!(first.len(), 3, "an archive for desktops, one of plugins, and `server.json`");
    assert!(first == run(), "the bytes are the same each time");
    let manifest = fs::read_to_string(directory.join("mcpb/manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let launcher = fs::read_to_string(directory.join("codex/launch.mjs")).expect("a launcher");
    assert!(launcher.contains(concat!("'agent-memory@", env!("CARGO_PKG_VERSION"), "'")));
    assert!(directory.join("gemini/skills/agent-memory/SKILL.md").is_file());
    // A directory with other files is left as it is.
    let other = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-bundles");
    fs::create_dir_all(&other).expect("a directory");
    fs::write(other.join("mine"), "mine").expect("a file");
    let mut script = Command::new(&python);
    script.arg("-B").arg(repository_root().join("release/bundles.py")).arg(&other);
    assert!(!script.output().expect("it runs").status.success());
    assert!(other.join("mine").is_file());
}

/// The links that add the server to a client.
#[test]
fn the_links_of_the_page_of_clients_start_the_server() {
    let page = source("docs/clients.md");
    let config = |begin: &str| {
        let link = page.split_once(begin).expect(begin).1;
        let link = link.split_once(')').expect("its end").0;
        link.strip_prefix("?name=agent-memory&config=").expect(link).to_owned()
    };
    let code = config("https://insiders.vscode.dev/redirect/mcp/install");
    let cursor = config("cursor://anysphere.cursor-deeplink/mcp/install");
    for decoded in [from_percents(&code), from_base64(&cursor)] {
        let server: Value = serde_json::from_slice(&decoded).expect("JSON");
        assert_eq!(server["command"], "npx", "{server}");
        assert_eq!(server["args"], serde_json::json!(["-y", "agent-memory", "serve"]), "{server}");
    }
}

fn from_percents(text: &str) -> Vec<u8> {
    let mut parts = text.split('%');
    let mut decoded = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        decoded.push(u8::from_str_radix(&part[..2], 16).expect("two digits"));
        decoded.extend(part[2..].bytes());
    }
    decoded
}

fn from_base64(text: &str) -> Vec<u8> {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut decoded = Vec::new();
    let mut bits = 0_u32;
    let mut count = 0;
    for letter in text.bytes().filter(|letter| *letter != b'=') {
        let value = LETTERS.iter().position(|known| *known == letter).expect("a letter of base64");
        bits = (bits << 6 | value as u32) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            decoded.push((bits >> count & 0xff) as u8);
        }
    }
    decoded
}
