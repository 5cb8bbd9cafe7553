//! `agent-memory doctor`: what it finds, its exit status, and that it changes nothing by itself.

mod process;

use agent_memory_host::storage::{LockTimeout, Place, Storage, StorageOptions};
use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::path::PathBuf;
use std::process::Output;
use std::time::Duration;

/// A home directory, and a repository in which the command runs.
struct Scene {
    home: tempfile::TempDir,
    repository: Repository,
}

impl Scene {
    fn new() -> Self {
        Scene { home: tempfile::tempdir().expect("a home"), repository: Repository::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = agent_memory(&self.repository.root());
        command.env("HOME", self.home.path());
        for name in ["APPDATA", "CODEX_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
            command.env_remove(name);
        }
        let memories = format!("--memory-dir={}", self.path("memories").display());
        let data = format!("--data-dir={}", self.path("data").display());
        command.args(arguments).args([memories, data]).output().expect("it runs")
    }

    /// The standard output of `doctor`, which has to end with `status`.
    #[track_caller]
    fn doctor(&self, arguments: &[&str], status: i32) -> String {
        let output = self.run(&[&["doctor"], arguments].concat());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn remember(&self) {
        let memory = json!({"type": "core", "content": "tabs"}).to_string();
        let settings = ["--toolset=records", "--records-format=sqlite"];
        let output = self.run(&[&["call", "store_memory", &memory], &settings[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

/// The line of the report with a text.
#[track_caller]
fn line<'a>(report: &'a str, text: &str) -> &'a str {
    let line = report.lines().find(|line| line.contains(text));
    line.unwrap_or_else(|| panic!("no line with {text:?}:\n{report}"))
}

#[test]
fn on_a_new_machine_all_is_well_and_nothing_is_made() {
    let scene = Scene::new();
    let report = scene.doctor(&[], 0);
    assert!(line(&report, "agent-memory 0.").starts_with("ok "), "{report}");
    assert!(!report.contains("error "), "{report}");
    assert_eq!(fs::read_dir(scene.home.path()).expect("a home").count(), 0);
    let json: Value = serde_json::from_str(&scene.doctor(&["--json"], 0)).expect("JSON");
    assert_eq!(json["errors"], 0);
    assert_eq!(json["findings"][0]["about"], "program");
}

#[test]
fn a_place_that_cannot_be_made_is_an_error() {
    let scene = Scene::new();
    fs::write(scene.path("notes"), "a file").expect("a file");
    let below = scene.path("notes/of/ada");
    let report = scene.doctor(&["--layers-db", below.to_str().expect("UTF-8")], 1);
    let found = line(&report, "notes/of/ada");
    assert!(found.starts_with("error ") && found.contains("stands there"), "{report}");
}

#[test]
fn a_damaged_database_is_an_error_and_a_sound_one_is_not() {
    let scene = Scene::new();
    scene.remember();
    let sound = scene.doctor(&[], 0);
    assert!(line(&sound, "is sound").starts_with("ok "), "{sound}");
    let database = scene.path("memories/memories.db");
    let mut bytes = fs::read(&database).expect("a database");
    // Overwrite all pages but the first, which has the schema.
    bytes[4096..].fill(0x55);
    fs::write(&database, &bytes).expect("a database");
    let damaged = scene.doctor(&[], 1);
    assert!(line(&damaged, "database").starts_with("error "), "{damaged}");
    assert_eq!(fs::read(&database).expect("a database"), bytes, "it is left as it is");
}

#[cfg(unix)]
#[test]
fn rights_of_others_are_taken_away_only_when_asked() {
    use std::os::unix::fs::PermissionsExt;

    let scene = Scene::new();
    scene.remember();
    let directory = scene.path("memories");
    let mode = || fs::metadata(&directory).expect("it is there").permissions().mode() & 0o777;
    fs::set_permissions(&directory, PermissionsExt::from_mode(0o755)).expect("a mode");
    let report = scene.doctor(&[], 0);
    let told = line(&report, "(mode 755)");
    assert!(told.starts_with("warning ") && told.contains("--repair"), "{report}");
    assert_eq!(mode(), 0o755);
    let report = scene.doctor(&["--repair"], 0);
    assert!(line(&report, "repaired, now 700").starts_with("ok "), "{report}");
    assert_eq!(mode(), 0o700);
}

#[test]
fn hooks_whose_program_is_gone_are_an_error() {
    let scene = Scene::new();
    fs::create_dir(scene.path(".codex")).expect("a directory");
    let write = |command: &str| {
        let group = json!({"hooks": [{"type": "command", "command": command}]});
        let text = json!({"hooks": {"SessionStart": [group]}}).to_string();
        fs::write(scene.path(".codex/hooks.json"), text).expect("a file");
    };
    write("'/no where/agent-memory' hook codex session-start");
    let report = scene.doctor(&[], 1);
    let told = line(&report, "`/no where/agent-memory`, which does not exist");
    assert!(told.contains("run `agent-memory install codex --hooks`"), "{report}");
    for command in ["agent-memory hook codex session-start", "/no/agent-memory hook cursor x"] {
        write(command);
        assert!(!scene.doctor(&[], 0).contains("hooks of"), "{command}");
    }
    fs::write(scene.path(".codex/hooks.json"), "{").expect("a file");
    assert!(line(&scene.doctor(&[], 0), "hooks of Codex").starts_with("warning "));
}

#[test]
fn a_client_whose_program_is_gone_is_an_error() {
    let scene = Scene::new();
    fs::create_dir(scene.path(".cursor")).expect("a directory");
    let write = |servers: Value| {
        let text = json!({"mcpServers": servers}).to_string();
        fs::write(scene.path(".cursor/mcp.json"), text).expect("a file");
    };
    write(json!({"agent-memory": {"command": "/nowhere/agent-memory", "args": ["serve"]}}));
    let report = scene.doctor(&[], 1);
    let told = line(&report, "/nowhere/agent-memory");
    assert!(told.contains("run `agent-memory install cursor`"), "{report}");

    let own = env!("CARGO_BIN_EXE_agent-memory");
    write(json!({"agent-memory": {"command": own, "args": ["serve"]}}));
    assert!(line(&scene.doctor(&[], 0), own).starts_with("ok "));
    write(json!({"agent-memory": {"command": own, "args": ["serve", "--allow=${workspace}"]}}));
    assert!(line(&scene.doctor(&[], 0), "${workspace}").starts_with("warning "));
    fs::write(scene.path(".cursor/mcp.json"), "{").expect("a file");
    assert!(line(&scene.doctor(&[], 0), "it is not JSON").starts_with("warning "));
    write(json!({"agent-memory": {"command": null}}));
    assert!(line(&scene.doctor(&[], 1), "starts nothing").starts_with("error "));
}

/// A server that gives each request the same status. Returns its URL.
fn server(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut request = [0; 4096];
            // An error ends the client's request, which the test sees.
            let _ = stream.read(&mut request);
            let answer =
                format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
            // A connection that is closed before all of the request was read is reset.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
    });
    url
}

#[test]
fn the_server_of_a_client_is_asked() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address");
    for (url, exit, says) in [
        (server("200 OK"), 0, "which answers"),
        (server("401 Unauthorized"), 0, "which answers and wants a token"),
        (server("404 Not Found"), 1, "which answers with status 404"),
        (format!("http://{free}/mcp"), 1, "which does not answer"),
        (
            "http://u:a/SECRET@127.0.0.1:99999/mcp?key=SECRET".into(),
            1,
            "which is no URL of a server",
        ),
        ("//u:SECRET@127.0.0.1/mcp".into(), 1, "which is no URL of a server"),
        ("http://127.0.0.1:8O80/mcp".into(), 1, "which is no URL of a server"),
        ("{env:MEMORY_URL}".into(), 0, "with a variable of the client"),
    ] {
        let scene = Scene::new();
        let settings = json!({"mcpServers": {"agent-memory": {"type": "http", "url": url}}});
        fs::write(scene.path(".claude.json"), settings.to_string()).expect("a configuration");
        let report = scene.doctor(&[], exit);
        assert!(line(&report, "Claude Code uses").contains(says), "{report}");
        assert!(!report.contains("SECRET"), "{report}");
    }
}

/// `doctor` does not wait for a process that a program leaves behind, such as a daemon that a script
/// starts.
#[cfg(unix)]
#[test]
fn a_program_of_a_client_that_hangs_is_given_up() {
    use std::os::unix::fs::PermissionsExt;
    use std::time::Instant;

    let scene = Scene::new();
    fs::create_dir(scene.path(".cursor")).expect("a directory");
    let program = scene.path("agent-memory");
    let script = "#!/bin/sh\nsleep 600 &\necho agent-memory 0.0.1\n";
    fs::write(&program, script).expect("a script");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
    let servers = json!({"mcpServers": {"agent-memory": {"command": program}}});
    fs::write(scene.path(".cursor/mcp.json"), servers.to_string()).expect("a file");
    let started = Instant::now();
    assert!(line(&scene.doctor(&[], 0), "agent-memory 0.0.1").starts_with("warning "));
    assert!(started.elapsed() < Duration::from_secs(300));
}

#[test]
fn a_log_of_a_database_stays_as_it_is() {
    let scene = Scene::new();
    scene.remember();
    let (database, log) =
        (scene.path("memories/memories.db"), scene.path("memories/memories.db-wal"));
    let contents = |path: &PathBuf| fs::read(path).expect("a file");
    let before = contents(&database);
    // This is not a log of the database: SQLite ignores it, and would delete it.
    fs::write(&log, vec![0u8; 4096]).expect("a log");
    scene.doctor(&[], 0);
    assert!(contents(&database) == before && contents(&log) == vec![0u8; 4096]);

    fs::write(&database, "").expect("a database");
    let report = scene.doctor(&[], 1);
    assert!(line(&report, "changes wait in its log").starts_with("error "), "{report}");
    assert_eq!(contents(&log), vec![0u8; 4096]);
}

#[test]
fn settings_that_a_server_would_refuse_are_errors() {
    let scene = Scene::new();
    for setting in ["--toolset=nothing", "--openai-url=nothing"] {
        let report = scene.doctor(&[setting], 1);
        assert!(line(&report, "settings").starts_with("error "), "{setting}: {report}");
    }
}

#[test]
fn a_damaged_lock_is_an_error() {
    let scene = Scene::new();
    scene.remember();
    fs::write(scene.path("memories/.agent-memory/turn.sqlite"), "garbage").expect("a file");
    assert!(line(&scene.doctor(&[], 1), "turn.sqlite").starts_with("error "));
}

#[cfg(unix)]
#[test]
fn a_directory_that_others_were_meant_to_use_is_not_repaired() {
    use std::os::unix::fs::PermissionsExt;

    let scene = Scene::new();
    scene.remember();
    let directory = scene.path("memories");
    fs::set_permissions(&directory, PermissionsExt::from_mode(0o1777)).expect("a mode");
    let report = scene.doctor(&["--repair"], 0);
    assert!(line(&report, "of its own").starts_with("warning "), "{report}");
    let mode = fs::metadata(&directory).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o7777, 0o1777);
}

#[test]
fn an_invalid_log_of_the_repository_is_an_error() {
    let scene = Scene::new();
    let logs = scene.repository.root().join(".github/agent-memory/aristotle/logs");
    fs::create_dir_all(&logs).expect("directories");
    fs::write(logs.join("2025-01-20.md"), "no log\n").expect("a file");
    let report = scene.doctor(&[], 1);
    let told = line(&report, "repository");
    assert!(told.starts_with("error ") && told.contains("agent-memory validate"), "{report}");
}

#[cfg(unix)]
#[test]
fn the_process_that_holds_a_lock_is_named() {
    let scene = Scene::new();
    let root = scene.repository.root();
    let storage = Storage::new(StorageOptions::default());
    storage.grant(&root).expect("it can be granted");
    let place = Place::repository(root.to_str().expect("UTF-8"));
    let tree = storage.open(&place, &[]).expect("it opens");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let lock = tree.lock(LockTimeout::new(Duration::from_secs(60)));
    let held = runtime.expect("a runtime").block_on(lock).expect("it is free");
    let report = scene.doctor(&[], 0);
    let holder = format!("process {}", std::process::id());
    assert!(line(&report, &holder).starts_with("warning "), "{report}");
    drop(held);
    assert!(!scene.doctor(&[], 0).contains(&holder));
}
