//! Flags and environment variables, and the commands that list tools.

mod process;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::process::Output;

/// Starts a session with these flags and variables.
fn start(repository: &Repository, flags: &[&str], variables: &[(&str, &str)]) -> Output {
    let arguments = repository.arguments(json!({})).to_string();
    let mut call = agent_memory(&repository.root());
    call.args(["call", "start_session", &arguments]).args(flags);
    call.envs(variables.iter().copied());
    call.output().expect("it runs")
}

/// The name of the session's file: its date shows which clock and zone were set.
fn session_file(output: &Output) -> String {
    let result: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let file = result["session_file"].as_str();
    let file = file.unwrap_or_else(|| panic!("{output:?}"));
    file.rsplit('/').next().expect("a name").to_owned()
}

const CLOCK: &str = "AGENT_MEMORY_FIXED_CLOCK";
const OFFSET: &str = "AGENT_MEMORY_UTC_OFFSET";
const NOON: &str = "2025-01-20T12:00:00Z";

#[test]
fn a_flag_takes_precedence_over_its_variable() {
    let flags = ["--utc-offset", "+00:00", "--fixed-clock", "2030-05-06T12:00:00Z"];
    let variables = [(CLOCK, NOON)];
    let by_variable = start(&Repository::new(), &flags[..2], &variables);
    assert_eq!(session_file(&by_variable), "2025-01-20.md");
    let by_flag = start(&Repository::new(), &flags, &variables);
    assert_eq!(session_file(&by_flag), "2030-05-06.md");
}

#[test]
fn a_time_zone_gives_today_and_excludes_a_fixed_offset() {
    let zone = "--time-zone=America/New_York";
    let summer = "--fixed-clock=2026-07-02T03:59:59.999Z";
    let winter = "--fixed-clock=2026-12-02T04:59:59.999Z";
    for (clock, file) in [(summer, "2026-07-01.md"), (winter, "2026-12-01.md")] {
        assert_eq!(session_file(&start(&Repository::new(), &[zone, clock], &[])), file);
    }
    let both = start(&Repository::new(), &[zone, "--utc-offset=-04:00"], &[]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
    let message = String::from_utf8_lossy(&both.stderr);
    assert!(message.contains("`--time-zone` and `--utc-offset` are both given"), "{message}");
    let variables = [("AGENT_MEMORY_TIME_ZONE", "America/New_York")];
    let by_flag = start(&Repository::new(), &["--utc-offset=+00:00", summer], &variables);
    assert_eq!(session_file(&by_flag), "2026-07-02.md");
}

#[test]
fn a_time_zone_of_the_machine_that_is_not_known_is_told() {
    let output = start(&Repository::new(), &[], &[("TZ", "Nowhere/X")]);
    assert!(output.status.success(), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("UTC: correct `TZ`, or give `--time-zone`"), "{told}");
}

#[test]
fn empty_values_and_unexpanded_variables_count_as_not_set() {
    let variables = [
        (CLOCK, NOON),
        (OFFSET, "+12:00"),
        ("AGENT_MEMORY_TOOLSET", ""),
        ("AGENT_MEMORY_LOCK_WAIT", "${lock_wait}"),
        ("AGENT_MEMORY_LOG_LEVEL", " "),
        ("AGENT_MEMORY_ALLOW", "${user_config.directory}"),
        ("AGENT_MEMORY_DATA_DIR", ""),
    ];
    let unset_flags = ["--utc-offset", " ", "--fixed-clock=", "--allow", ""];
    let output = start(&Repository::new(), &unset_flags, &variables);
    assert_eq!(session_file(&output), "2025-01-21.md");
}

#[test]
fn an_option_that_is_an_unexpanded_variable_is_refused() {
    let flags = [
        "--memory-dir",
        "--data-dir",
        "--layers-db",
        "--stores-config",
        "--allow",
        "--time-zone",
        "--utc-offset",
        "--fixed-clock",
        "--durability",
        "--lock-wait",
        "--log-level",
        "--toolset",
    ];
    for flag in flags {
        let option = format!("{flag}=${{workspaceFolder}}");
        let output = start(&Repository::new(), &[&option], &[]);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{flag}: {told}");
        assert!(told.contains(&format!("`{flag}`")), "{flag}: {told}");
    }
}

#[test]
fn a_path_that_cannot_be_meant_is_refused_before_anything_is_made() {
    let repository = Repository::new();
    let in_it = || std::fs::read_dir(repository.root()).expect("a directory").count();
    let before = in_it();
    for (flag, variable, value) in [
        ("--memory-dir", "AGENT_MEMORY_MEMORY_DIR", "${workspaceFolder}/mem"),
        ("--memory-dir", "AGENT_MEMORY_MEMORY_DIR", "$HOME/mem"),
        ("--data-dir", "AGENT_MEMORY_DATA_DIR", r"%APPDATA%\mem"),
        ("--layers-db", "AGENT_MEMORY_LAYERS_DB", "file:///x"),
        ("--stores-config", "AGENT_MEMORY_STORES_CONFIG", "~ada/stores.yaml"),
        ("--allow", "AGENT_MEMORY_ALLOW", "file:///x"),
        ("--data-dir", "AGENT_MEMORY_DATA_DIR", r"C:\memory"),
    ] {
        let by_flag = start(&repository, &[flag, value], &[]);
        let by_variable = start(&repository, &[], &[(variable, value)]);
        for (source, output) in [(flag, by_flag), (variable, by_variable)] {
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{source} {value}: {told}");
            assert!(told.contains(source) && told.contains("which "), "{source} {value}: {told}");
        }
        assert_eq!(in_it(), before, "{value}");
    }
}

#[test]
fn an_invalid_value_is_named_with_its_flag_or_variable() {
    let wrong = [
        ("--utc-offset", OFFSET, "2 hours"),
        ("--time-zone", "AGENT_MEMORY_TIME_ZONE", "Mars/Olympus"),
        ("--fixed-clock", CLOCK, "yesterday"),
        ("--fixed-random", "AGENT_MEMORY_FIXED_RANDOM", "-1"),
        ("--durability", "AGENT_MEMORY_DURABILITY", "some"),
        ("--lock-wait", "AGENT_MEMORY_LOCK_WAIT", "5"),
        ("--lock-wait", "AGENT_MEMORY_LOCK_WAIT", "9223372036854775807s"),
        ("--toolset", "AGENT_MEMORY_TOOLSET", ","),
        ("--log-level", "AGENT_MEMORY_LOG_LEVEL", "loud"),
        ("--recent-capacity", "AGENT_MEMORY_RECENT_CAPACITY", "1"),
        ("--recent-capacity", "AGENT_MEMORY_RECENT_CAPACITY", "101"),
    ];
    for (flag, variable, value) in wrong {
        let repository = Repository::new();
        let by_flag = start(&repository, &[&format!("{flag}={value}")], &[]);
        let by_variable = start(&repository, &[], &[(variable, value)]);
        for (output, place) in [(by_flag, flag), (by_variable, variable)] {
            assert_eq!(output.status.code(), Some(2), "{place}: {output:?}");
            let message = String::from_utf8_lossy(&output.stderr);
            for part in [place, value] {
                assert!(message.contains(&format!("`{part}`")), "{place}: {message}");
            }
        }
    }
}

#[test]
fn an_unknown_log_level_of_other_programs_is_ignored() {
    let output = start(&Repository::new(), &[], &[("LOG_LEVEL", "verbose")]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let level = |level| {
        let variables = [("LOG_LEVEL", level), (CLOCK, NOON)];
        start(&Repository::new(), &[], &variables).stderr
    };
    assert!(!level("Info").is_empty(), "a fixed clock is warned of");
    assert!(level("error").is_empty());
}

#[test]
fn directories_are_granted_by_flags_or_by_a_list_in_the_environment() {
    let here = Repository::new();
    let first = Repository::new();
    let second = Repository::new();
    let read = |repository: &Repository, flags: &[&str], list: Option<&str>| {
        let arguments = repository.arguments(json!({})).to_string();
        let mut call = agent_memory(&here.root());
        call.args(["call", "read_summary", &arguments]).args(flags);
        call.envs(list.map(|list| ("AGENT_MEMORY_ALLOW", list)));
        call.output().expect("it runs").status.code()
    };
    let one = first.path();
    let two = second.path();
    assert_eq!(read(&second, &[], None), Some(1));
    assert_eq!(read(&second, &["--allow", &one, "--allow", &two], None), Some(0));
    let list = std::env::join_paths([&one, &two]).expect("a list");
    let list = list.to_str().expect("UTF-8");
    assert_eq!(read(&second, &[], Some(list)), Some(0));
    assert_eq!(read(&second, &["--allow", &one], Some(list)), Some(1));
}

#[test]
fn a_database_file_is_below_the_data_directory_or_where_its_option_says() {
    let repository = Repository::new();
    let platform = repository.path() + "/platform";
    for (flags, variables, file) in [
        (&["--data-dir", "flag"][..], &[][..], "flag/agent_memory.db"),
        (&[], &[("AGENT_MEMORY_DATA_DIR", "variable")], "variable/agent_memory.db"),
        (&[], &[("XDG_DATA_HOME", &*platform)], "platform/agent-memory/agent_memory.db"),
        (&["--layers-db", "own/mine.sqlite"], &[], "own/mine.sqlite"),
        (&[], &[("AGENT_MEMORY_DB", "shared.sqlite")], "shared.sqlite"),
    ] {
        if file.starts_with("platform") && !cfg!(target_os = "linux") {
            continue;
        }
        let file = repository.root().join(file);
        assert!(!file.exists());
        let mut add = agent_memory(&repository.root());
        let memory = r#"{"agent_id": "aristotle", "memory": "Prefers tea."}"#;
        add.args(["layers", "add_recent_memory", memory]).args(flags);
        let output = add.envs(variables.iter().copied()).output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        assert!(file.exists(), "{}", file.display());
    }
    let mut add = agent_memory(&repository.root());
    let output = add.args(["layers", "get_recent_memories", r#"{"agent_id": "aristotle"}"#]);
    let output = output.args(["--layers-db", "flag"]).output().expect("it runs");
    assert_eq!(output.status.code(), Some(3), "a directory: {output:?}");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("something other than a file stands there: move it away"), "{told}");
}

#[test]
fn all_and_a_comma_list_mount_toolsets() {
    let repository = Repository::new();
    let tools = |flags: &[&str]| {
        let mut tools = agent_memory(&repository.root());
        let output = tools.args(["tools", "--json"]).args(flags).output();
        output.expect("it runs").stdout
    };
    let default = tools(&[]);
    assert!(!default.is_empty());
    assert!(tools(&["--toolset", "sessions, sessions"]) == default);
    let all = tools(&["--toolset", "all"]);
    assert!(all.len() > default.len());
    assert!(tools(&["--toolset", "sessions, records, layers, stores, files, items"]) == all);
    assert!(tools(&["--toolset", "sessions, memory"]) == default);
    // Several toolsets have a tool of this name.
    let all: Value = serde_json::from_slice(&all).expect("JSON");
    let names = all.as_array().expect("a list").iter().filter_map(|tool| tool["name"].as_str());
    let names: Vec<_> = names.filter(|name| name.ends_with("add_core_memory")).collect();
    assert_eq!(names, ["records_add_core_memory", "layers_add_core_memory"]);
}

#[test]
fn a_switch_leaves_out_the_search_unless_it_is_named() {
    let repository = Repository::new();
    let run = |flags: &[&str], variable: &str| {
        let mut tools = agent_memory(&repository.root());
        tools.args(["tools", "--json"]).args(flags).env("AGENT_MEMORY_NO_SEARCH", variable);
        tools.output().expect("it runs")
    };
    let has_search = |flags: &[&str], variable: &str| {
        let output = run(flags, variable);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let tools: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        tools.iter().any(|tool| tool["name"] == "search_memory")
    };
    for shown in ["", "false", "0"] {
        assert!(has_search(&[], shown) && has_search(&["--toolset", "records"], shown), "{shown}");
        assert!(!has_search(&["--no-search"], shown), "{shown}");
    }
    for hidden in ["true", "1"] {
        assert!(!has_search(&[], hidden) && !has_search(&["--toolset=all"], hidden), "{hidden}");
        assert!(has_search(&["--toolset=records,memory"], hidden), "{hidden}");
    }
    let wrong = run(&[], "yes");
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let message = String::from_utf8_lossy(&wrong.stderr).into_owned();
    let said = "`AGENT_MEMORY_NO_SEARCH` is `yes`, which is not `true` or `false`";
    assert!(message.contains(said), "{message}");

    let mut call = agent_memory(&repository.root());
    call.args(["call", "search_memory", r#"{"query": "x"}"#, "--no-search"]);
    assert_eq!(call.output().expect("it runs").status.code(), Some(2));
}

#[test]
fn the_readable_list_names_each_tool_and_its_parameters() {
    let repository = Repository::new();
    let run = |flags: &[&str]| {
        let output = agent_memory(&repository.root()).arg("tools").args(flags).output();
        String::from_utf8(output.expect("it runs").stdout).expect("UTF-8")
    };
    let readable = run(&[]);
    let tools: Value = serde_json::from_str(&run(&["--json"])).expect("JSON");
    for tool in tools.as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        assert!(readable.contains(name), "{readable}");
        let parameters = tool["inputSchema"]["properties"].as_object();
        for parameter in parameters.expect("parameters").keys() {
            assert!(readable.contains(&format!("    {parameter}")), "{readable}");
        }
    }
}

#[test]
fn tools_for_people_are_listed_on_request() {
    let repository = Repository::new();
    let names = |flags: &[&str]| -> Vec<(String, String)> {
        let mut tools = agent_memory(&repository.root());
        let output = tools.args(["tools", "--json"]).args(flags).output().expect("it runs");
        let tools: Vec<Value> = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        tools.iter().map(|tool| (text(&tool["name"]), text(&tool["audience"]))).collect()
    };
    let models = names(&[]);
    let all = names(&["--all"]);
    assert!(models.iter().all(|(_, audience)| audience == "model"), "{models:?}");
    assert!(all.contains(&("validate".to_owned(), "person".to_owned())), "{all:?}");
    assert!(models.iter().all(|tool| all.contains(tool)) && models.len() < all.len(), "{all:?}");
    let output = agent_memory(&repository.root()).args(["tools", "--all"]).output();
    let readable = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    let marked = readable.lines().filter(|line| line.ends_with(" (for people)")).count();
    assert_eq!(marked, all.len() - models.len(), "{readable}");
}

#[test]
fn the_version_is_that_of_the_package() {
    let repository = Repository::new();
    let output = agent_memory(&repository.root()).arg("--version").output();
    let version = String::from_utf8(output.expect("it runs").stdout).expect("UTF-8");
    assert_eq!(version.trim(), concat!("agent-memory ", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_demo_shows_what_it_wrote_and_leaves_nothing() {
    let scratch = tempfile::tempdir().expect("a temporary directory");
    let mut demo = agent_memory(scratch.path());
    let demo = demo.arg("demo").env("TMPDIR", scratch.path());
    let output = demo.output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let shown = String::from_utf8(output.stdout).expect("UTF-8");
    for part in [
        "-> start_session",
        "-> append_entry",
        "-> read_summary",
        ".github/agent-memory/aristotle/_schema.md",
        "  | ## Decisions",
    ] {
        assert!(shown.contains(part), "`{part}` in: {shown}");
    }
    let left = std::fs::read_dir(scratch.path()).expect("it is there").count();
    assert_eq!(left, 0, "{shown}");
}
