//! The plugin in places and with settings that are hostile or broken: each call gives a result or a
//! clear error, nothing outside of the grant is touched, and nothing acknowledged is lost.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use agent_memory_conformance::case::Documents;
use agent_memory_tests::mounts::where_mounts_are_allowed;
use agent_memory_tests::runners::plugin;
use agent_memory_tests::scratch::Scratch;
use serde_json::{Value, json};

const LOG: &str = ".github/agent-memory/aristotle/logs/2025-01-20.md";

/// Calls tools of one instance, and returns the answers.
fn ask(request: &Value) -> Vec<Value> {
    let mut program = plugin::program("call_plugin.py").expect("it is built");
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut program = program.expect("it starts");
    let mut input = program.stdin.take().expect("its input");
    write!(input, "{request}").expect("it reads");
    drop(input);
    let output = program.wait_with_output().expect("it ends");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let answers: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let calls = request["calls"].as_array().expect("calls").len();
    assert_eq!(answers.len(), calls, "{} {answers:?}", output.status);
    answers
}

/// A request to a plugin that may use one repository.
fn request(repository: &Path, calls: Value) -> Value {
    json!({
        "directories": [repository],
        "environment": {"AGENT_MEMORY_ALLOW": repository},
        "calls": calls,
    })
}

fn start() -> Value {
    json!(["start_session", {"agent_name": "aristotle", "date": "2025-01-20"}])
}

fn append(content: &str) -> Value {
    json!(["append_entry", {
        "agent_name": "aristotle", "date": "2025-01-20", "section": "Context", "content": content,
    }])
}

fn read() -> Value {
    json!(["read_session", {"agent_name": "aristotle", "date": "2025-01-20"}])
}

#[track_caller]
fn succeeds(answer: &Value) {
    assert_eq!(answer.get("error"), None, "{answer}");
}

#[track_caller]
fn fails(answer: &Value, parts: &[&str]) {
    assert_ne!(answer.get("error"), None, "{answer}");
    for part in parts {
        assert!(answer.to_string().contains(part), "{answer} has no `{part}`");
    }
}

fn lock_directory(repository: &Path) -> PathBuf {
    repository.join(".git/agent-memory")
}

#[test]
fn a_setting_that_cannot_be_read_is_an_error_of_every_call() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    for (name, value) in [
        ("AGENT_MEMORY_UTC_OFFSET", "+99:99"),
        ("AGENT_MEMORY_FIXED_CLOCK", "9999-12-31T23:59:59Z+x"),
        ("AGENT_MEMORY_ALLOW", "."),
        ("AGENT_MEMORY_TOOLSET", "notes"),
        ("MEMORY_DIR", "../memories"),
        ("AGENT_MEMORY_RECORDS_MAX_BYTES", "99999999999999999999"),
    ] {
        let mut request = request(&scratch.repo(), json!([["tools", {}], start()]));
        request["environment"][name] = json!(value);
        for answer in ask(&request) {
            let word = if value == "notes" { "no toolset" } else { value };
            fails(&answer, &["invalid-request", word]);
        }
    }
    assert_eq!(scratch.documents(), Documents::new());
}

#[test]
fn extreme_settings_give_an_answer() {
    if plugin::left_out() {
        return;
    }
    for (name, value) in [
        ("AGENT_MEMORY_FIXED_CLOCK", "2025-01-20T10:00:00Z+87600000h"),
        ("AGENT_MEMORY_FIXED_RANDOM", "18446744073709551615"),
        ("AGENT_MEMORY_TOOLSET", "all,sessions,all"),
        ("AGENT_MEMORY_ALLOW", "/:/nowhere:/proc"),
        ("HOME", "/"),
    ] {
        let scratch = Scratch::new(&Documents::new());
        let mut request = request(&scratch.repo(), json!([start(), start(), ["tools", {}]]));
        request["environment"][name] = json!(value);
        let answers = ask(&request);
        if name != "AGENT_MEMORY_ALLOW" {
            succeeds(&answers[0]);
        }
        assert!(answers[2].is_array(), "{name}");
    }
}

#[test]
fn a_preopened_directory_that_is_read_only_stops_only_writers() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    let mut closed = request(&repository, json!([start(), read()]));
    closed["read_only"] = json!(true);
    fails(&ask(&closed)[0], &["cannot lock", "check the permissions"]);
    assert!(!repository.join(".github").exists());

    ask(&request(&repository, json!([start(), append("before")]))).iter().for_each(succeeds);
    closed["calls"] = json!([append("refused"), read()]);
    let answers = ask(&closed);
    fails(&answers[0], &["cannot lock", "check the permissions"]);
    succeeds(&answers[1]);
    assert!(answers[1].to_string().contains("before"), "{}", answers[1]);
    assert!(!fs::read_to_string(repository.join(LOG)).expect("the log").contains("refused"));
}

#[test]
fn a_name_that_is_not_utf_8_stops_only_calls_that_list_its_directory() {
    if plugin::left_out() {
        return;
    }
    let name = OsStr::from_bytes(b"\xff\xfe.md");
    let list = json!(["list_sessions", {"agent_name": "aristotle"}]);
    for (place, stops) in [
        ("", [false, false, false]),
        (".git/agent-memory", [false, false, false]),
        (".github/agent-memory/aristotle/logs", [true, false, true]),
    ] {
        let scratch = Scratch::new(&Documents::new());
        let repository = scratch.repo();
        ask(&request(&repository, json!([start()]))).iter().for_each(succeeds);
        fs::write(repository.join(place).join(name), "theirs").expect("a file");
        let answers = ask(&request(&repository, json!([append("beside"), read(), list])));
        for (answer, stops) in answers.iter().zip(stops) {
            if stops {
                fails(answer, &["a name there is not UTF-8: rename it"])
            } else {
                succeeds(answer)
            }
        }
    }
}

#[test]
fn a_symbolic_link_leads_nowhere() {
    if plugin::left_out() {
        return;
    }
    for link in
        [".github", ".github/agent-memory", ".github/agent-memory/aristotle", ".git/agent-memory"]
    {
        let scratch = Scratch::new(&Documents::new());
        let repository = scratch.repo();
        let outside = repository.with_file_name("outside");
        fs::create_dir(&outside).expect("a directory");
        let link = repository.join(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
        symlink(&outside, &link).expect("a link");
        let answers = ask(&request(&repository, json!([start(), append("outside"), read()])));
        fails(&answers[0], &[]);
        fails(&answers[1], &[]);
        assert_eq!(fs::read_dir(&outside).expect("it is there").count(), 0, "{}", link.display());
    }
}

#[test]
fn whatever_stands_at_the_mark_is_replaced_but_for_a_directory() {
    if plugin::left_out() {
        return;
    }
    let scratch = Scratch::new(&Documents::new());
    let repository = scratch.repo();
    ask(&request(&repository, json!([start()]))).iter().for_each(succeeds);
    let mark = lock_directory(&repository).join("plugin.mark");
    let outside = repository.with_file_name("outside");
    fs::write(&outside, "theirs").expect("a file");
    let makes: [&dyn Fn(); 4] = [
        &|| {},
        &|| fs::write(&mark, b"\xff\x00garbage").expect("a file"),
        &|| symlink(&outside, &mark).expect("a link"),
        &|| {
            let fifo = Command::new("mkfifo").arg(&mark).status();
            assert!(fifo.expect("it runs").success());
        },
    ];
    for make in makes {
        fs::remove_file(&mark).expect("it is there");
        make();
        ask(&request(&repository, json!([append("one"), append("two")]))).iter().for_each(succeeds);
    }
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "theirs");
    fs::remove_file(&mark).expect("it is there");
    fs::create_dir(&mark).expect("a directory");
    let [refused] = &ask(&request(&repository, json!([append("three")])))[..] else {
        panic!("one answer")
    };
    fails(refused, &["`plugin.mark`", "something else stands there"]);
}

#[test]
fn two_preopened_directories_are_two_places() {
    if plugin::left_out() {
        return;
    }
    let one = Scratch::new(&Documents::new());
    let other = Scratch::new(&Documents::new());
    let paths = [one.repo(), other.repo()];
    let log = |repository: &Path| json!({"agent_name": "aristotle", "date": "2025-01-20", "repo_root": repository});
    let request = json!({
        "directories": paths,
        "environment": {
            "AGENT_MEMORY_ALLOW": format!("{}:{}", paths[0].display(), paths[1].display()),
        },
        "calls": [
            ["start_session", log(&paths[0])],
            ["start_session", log(&paths[1])],
            start(),
        ],
    });
    let answers = ask(&request);
    succeeds(&answers[0]);
    succeeds(&answers[1]);
    fails(&answers[2], &["repo_root"]);
    assert_eq!(one.documents(), other.documents());
    assert!(one.documents().contains_key("aristotle/logs/2025-01-20.md"));
}

#[test]
fn a_store_in_the_directory_of_records_is_refused() {
    if plugin::left_out() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a directory");
    let root = scratch.path().canonicalize().expect("it is there");
    let data = root.join("data");
    let records = root.join("records");
    fs::create_dir_all(records.join("inside")).expect("a directory");
    fs::create_dir(&data).expect("a directory");
    let path = records.join("inside");
    let registry = json!({"stores": {"bad": {"kind": "filesystem", "properties": {"path": path}}}});
    // Every JSON text is YAML.
    fs::write(data.join("stores.yaml"), registry.to_string()).expect("a registry");
    let memory = json!({"store": "bad", "path": "notes/a", "content": "text"});
    let answers = ask(&json!({
        "directories": [root],
        "environment": {
            "AGENT_MEMORY_TOOLSET": "stores,records",
            "AGENT_MEMORY_DATA_DIR": data,
            "MEMORY_DIR": records,
            "AGENT_MEMORY_ACCEPT_MODES": "true",
        },
        "calls": [["add_memory", memory]],
    }));
    fails(&answers[0], &["cannot use `bad`", "it lies within `records`"]);
    assert_eq!(fs::read_dir(&path).expect("it is there").count(), 0);
}

#[test]
fn a_database_beside_files_of_records_stops_no_search_of_a_plugin() {
    if plugin::left_out() {
        return;
    }
    let scratch = tempfile::tempdir().expect("a directory");
    let records = scratch.path().canonicalize().expect("it is there").join("records");
    fs::create_dir(&records).expect("a directory");
    let request = |calls: Value| {
        json!({
            "directories": [records],
            "environment": {
                "AGENT_MEMORY_TOOLSET": "records",
                "MEMORY_DIR": records,
                "AGENT_MEMORY_ACCEPT_MODES": "true",
            },
            "calls": calls,
        })
    };
    let search = json!(["search_memory", {"query": "red"}]);
    let add = json!(["add_core_memory", {"agent_id": "ada", "content": "The bridge is red."}]);
    ask(&request(json!([add]))).iter().for_each(succeeds);
    fs::write(records.join("memories.db"), "").expect("a database");
    let answers = ask(&request(json!([search])));
    succeeds(&answers[0]);
    for part in ["The bridge is red.", "records in `memories.db` were not searched"] {
        assert!(answers[0].to_string().contains(part), "{} has no `{part}`", answers[0]);
    }
    fs::remove_file(records.join("ada.json")).expect("it is there");
    let answers = ask(&request(json!([search])));
    succeeds(&answers[0]);
    for part in ["nothing is kept yet in what could be searched", "a plugin has none"] {
        assert!(answers[0].to_string().contains(part), "{} has no `{part}`", answers[0]);
    }
}

#[test]
fn a_full_medium_stops_only_writers_of_a_plugin_until_there_is_space() {
    const TEST: &str = "a_full_medium_stops_only_writers_of_a_plugin_until_there_is_space";
    if plugin::left_out() {
        return;
    }
    where_mounts_are_allowed(TEST, || {
        let mounted = tempfile::tempdir().expect("a directory");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"]).arg(mounted.path());
        assert!(mount.status().expect("it runs").success());
        let repository = mounted.path().canonicalize().expect("it is there");
        fs::create_dir(repository.join(".git")).expect("a directory");
        fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").expect("a file");
        ask(&request(&repository, json!([start(), append("first")]))).iter().for_each(succeeds);
        let before = fs::read_to_string(repository.join(LOG)).expect("the log");
        let filler = repository.join("filler");
        let mut file = fs::File::create(&filler).expect("a file");
        while file.write_all(&[0; 4096]).is_ok() {}
        drop(file);
        let answers =
            ask(&request(&repository, json!([append("refused"), append("again"), read()])));
        // WASI does not tell a full medium from other errors.
        fails(&answers[0], &["the medium"]);
        fails(&answers[1], &["the medium"]);
        succeeds(&answers[2]);
        assert_eq!(fs::read_to_string(repository.join(LOG)).expect("the log"), before);
        fs::remove_file(&filler).expect("it is there");
        ask(&request(&repository, json!([append("last")]))).iter().for_each(succeeds);
        let leftovers: Vec<_> = names_below(&repository)
            .into_iter()
            .filter(|name| name.ends_with("-tmp") || name.contains("claim"))
            .collect();
        assert_eq!(leftovers, Vec::<String>::new());
    });
}

/// The names of all files below a directory.
fn names_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(directory).expect("it is there") {
        let entry = entry.expect("an entry");
        if entry.file_type().expect("its type").is_dir() {
            names.extend(names_below(&entry.path()))
        } else {
            names.push(entry.file_name().to_string_lossy().into_owned())
        }
    }
    names
}
