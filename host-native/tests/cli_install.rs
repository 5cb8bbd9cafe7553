//! `agent-memory install` and `uninstall`: their messages, their exit statuses, and a server that is
//! started by the entry in the client's file.

mod process;

use process::{Repository, agent_memory};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_agent-memory");

/// A home directory, and a repository in which the commands run.
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

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = agent_memory(&self.repository.root());
        command.env("HOME", self.home.path()).env("PATH", self.path("bin"));
        for name in ["APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command.args(arguments);
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("it runs")
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    #[track_caller]
    fn fails(&self, status: i32, arguments: &[&str], part: &str) {
        let output = self.run(arguments);
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn without_a_client_those_that_are_found_are_listed() {
    let scene = Scene::new();
    let none = scene.succeeds(&["install"]);
    assert!(none.starts_with("No client is found."), "{none}");
    assert!(none.contains("  cursor "), "{none}");

    scene.write(".cursor/mcp.json", "{}");
    scene.write(".config/zed/settings.json", "{");
    scene.succeeds(&["install", "cursor"]);
    let listed = scene.succeeds(&["install"]);
    assert!(listed.contains("cursor          has agent-memory: "), "{listed}");
    assert!(listed.contains("zed             cannot be read (it is not JSON"), "{listed}");
    assert!(!listed.contains("codex"), "{listed}");
    assert_eq!(scene.text(".config/zed/settings.json"), "{");
}

#[test]
fn the_client_starts_the_server_that_its_file_names() {
    let scene = Scene::new();
    scene.write(".cursor/mcp.json", "{\n  // mine\n  \"mcpServers\": {}\n}\n");
    let shown = scene.succeeds(&["install", "cursor", "--toolset", "sessions,records"]);
    assert!(shown.contains("+     \"agent-memory\": {"), "{shown}");
    let text = scene.text(".cursor/mcp.json").replace("// mine", "");
    let servers: Value = serde_json::from_str(&text).expect("JSON");
    let entry = &servers["mcpServers"]["agent-memory"];
    assert_eq!(
        *entry,
        json!({"command": PROGRAM, "args": ["serve", "--toolset=sessions,records"]})
    );

    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "cursor", "version": "1"},
    }});
    let mut command = Command::new(entry["command"].as_str().expect("a path"));
    let arguments = entry["args"].as_array().expect("a list");
    command.args(arguments.iter().filter_map(Value::as_str));
    command.current_dir(scene.repository.root()).env("HOME", scene.home.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = command.spawn().expect("it starts");
    let mut input = server.stdin.take().expect("piped");
    writeln!(input, "{request}").expect("it reads");
    drop(input);
    let output = server.wait_with_output().expect("it ends");
    let answer = String::from_utf8(output.stdout).expect("UTF-8");
    let answer: Value = serde_json::from_str(answer.lines().next().expect("a line")).expect("JSON");
    assert_eq!(answer["result"]["serverInfo"]["name"], "agent-memory", "{answer}");
}

/// A copy of the program where npm keeps the programs that `npx` starts.
fn program_of_npx(scene: &Scene) -> PathBuf {
    let directory = scene.path(".npm/_npx/5f2/node_modules/@agent-memory/linux-x64/bin");
    fs::create_dir_all(&directory).expect("a directory");
    let program = directory.join(format!("agent-memory{}", std::env::consts::EXE_SUFFIX));
    fs::copy(PROGRAM, &program).expect("a copy");
    program
}

#[test]
fn npx_writes_itself_into_the_entry_and_the_hooks() {
    let scene = Scene::new();
    let program = program_of_npx(&scene);
    let run = |arguments: &[&str]| {
        let own = scene.command(arguments);
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(scene.repository.root()).env_clear();
        command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.output().expect("it runs");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        let [out, said] = [output.stdout, output.stderr].map(String::from_utf8);
        (out.expect("UTF-8"), said.expect("UTF-8"))
    };
    // An earlier entry names an installed program.
    scene.succeeds(&["install", "cursor", "--hooks"]);
    let install = ["install", "cursor", "--hooks", "--toolset=records"];
    let (_, said) = run(&install);
    assert!(said.contains("run `npm install -g agent-memory`"), "{said}");
    assert!(said.contains("`npx -y agent-memory uninstall cursor` takes it out"), "{said}");

    let start: &[&str] = if cfg!(windows) { &["cmd", "/c", "npx"] } else { &["npx"] };
    let started = [start, &["-y", "agent-memory", "serve", "--toolset=records"]].concat();
    let servers: Value = serde_json::from_str(&scene.text(".cursor/mcp.json")).expect("JSON");
    let entry = json!({"command": started[0], "args": started[1..]});
    assert_eq!(servers["mcpServers"]["agent-memory"], entry);
    let hooks: Value = serde_json::from_str(&scene.text(".cursor/hooks.json")).expect("JSON");
    let line = "npx -y agent-memory hook cursor session-start --toolset=records";
    let hook = hooks["hooks"]["sessionStart"][0]["command"].as_str().expect("a line");
    assert!(hook.ends_with(line) && !hook.contains("_npx"), "{hook}");

    assert!(run(&install).0.starts_with("Cursor has agent-memory already"));
    let doctor = run(&["doctor"]).0;
    assert!(doctor.contains("Cursor starts `npx -y agent-memory`"), "{doctor}");
    assert!(run(&["install"]).0.contains("Name one: `npx -y agent-memory install CLIENT`"));
    run(&["uninstall", "cursor"]);
    assert!(!scene.path(".cursor").exists(), "its directory was empty");
    let listed = run(&["install"]).0;
    assert!(listed.starts_with("No client is found."), "{listed}");
}

#[test]
fn twice_is_once_and_out_again_gives_back_the_bytes() {
    let scene = Scene::new();
    let before = "# mine\nmodel = 'x'\n";
    scene.write(".codex/config.toml", before);
    scene.succeeds(&["install", "codex"]);
    let after = scene.text(".codex/config.toml");
    assert!(after.starts_with(before) && after.contains("[mcp_servers.agent-memory]"), "{after}");
    let again = scene.succeeds(&["install", "codex"]);
    assert!(again.starts_with("Codex has agent-memory already"), "{again}");
    assert_eq!(scene.text(".codex/config.toml"), after);
    let shown = scene.succeeds(&["uninstall", "codex", "--dry-run"]);
    assert!(shown.contains("- [mcp_servers.agent-memory]"), "{shown}");
    assert_eq!(scene.text(".codex/config.toml"), after);
    scene.succeeds(&["uninstall", "codex"]);
    assert_eq!(scene.text(".codex/config.toml"), before);
    assert!(!scene.path(".codex/config.toml.agent-memory-backup").exists());
    let none = scene.succeeds(&["uninstall", "codex"]);
    assert!(none.starts_with("Codex has no agent-memory"), "{none}");
}

#[test]
fn a_dry_run_changes_nothing() {
    let scene = Scene::new();
    let shown = scene.succeeds(&["install", "vscode", "--scope", "project", "--dry-run"]);
    assert!(shown.contains(".vscode/mcp.json") && shown.contains("\"servers\""), "{shown}");
    assert!(!scene.repository.root().join(".vscode").exists());
}

#[test]
fn a_project_has_a_file_of_its_own() {
    let scene = Scene::new();
    scene.succeeds(&["install", "claude-code", "--scope", "project"]);
    let file = scene.repository.root().join(".mcp.json");
    assert!(file.is_file() && !scene.path(".claude.json").exists());
    fs::write(&file, "{ \"mcpServers\": { \"a\": { \"env\": \"secret\" } } }\n").expect("a file");
    let output = scene.run(&["install", "claude-code", "--scope", "project"]);
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(said.contains("`agent-memory uninstall claude-code --scope project`"), "{said}");
    assert!(!scene.repository.root().join(".mcp.json.agent-memory-backup").exists());
    scene.succeeds(&["uninstall", "claude-code", "--scope", "project"]);
    assert!(!fs::read_to_string(&file).expect("a file").contains("agent-memory"));
    scene.fails(2, &["install", "windsurf", "--scope", "project"], "leave `--scope project` out");
}

#[test]
fn what_cannot_work_is_refused_before_anything_is_written() {
    let scene = Scene::new();
    let file = scene.path("servers.json");
    let file = file.to_str().expect("UTF-8");
    scene.fails(2, &["install", "cursor", "--", "--bogus"], "would not start: unexpected argument");
    scene.fails(2, &["install", "cursor", "--toolset", "nothing"], "would not start: ");
    scene.fails(2, &["install", "cursor", "--http", "localhost"], "is no URL");
    scene.fails(2, &["install", "claude-desktop", "--http", "http://localhost/mcp"], "connector");
    scene.fails(2, &["install", "cursor", "--http", "http:// a"], "is no URL");
    let over_http = ["install", "cursor", "--", "--http", "127.0.0.1:0"];
    scene.fails(2, &over_http, "install CLIENT --http URL");
    scene.fails(2, &["install", "other"], "`--file`");
    scene.fails(2, &["install", "--file", file], "name a client");
    scene.fails(2, &["install", "other", "--file", "/"], "is no file");
    assert_eq!(fs::read_dir(scene.home.path()).expect("a home").count(), 0);
    scene.succeeds(&["install", "other", "--file", file]);
    assert!(scene.text("servers.json").contains("mcpServers"));
    scene.succeeds(&["uninstall", "other", "--file", file]);
    assert!(!Path::new(file).exists());
}

/// The clients with hooks, their files in the home directory, and the JSON pointer of the hook for the
/// start of a session.
const HOOKS: [(&str, &str, &str); 4] = [
    ("claude-code", ".claude/settings.json", "/hooks/SessionStart/0/hooks/0"),
    ("codex", ".codex/hooks.json", "/hooks/SessionStart/0/hooks/0"),
    ("cursor", ".cursor/hooks.json", "/hooks/sessionStart/0"),
    ("gemini", ".gemini/settings.json", "/hooks/SessionStart/0/hooks/0"),
];

#[test]
fn hooks_come_with_the_server_start_and_go_again_to_the_byte() {
    for (client, file, place) in HOOKS {
        let scene = Scene::new();
        let before = "{\n  \"mine\": true\n}\n";
        scene.write(file, before);
        let dry = scene.succeeds(&["install", client, "--hooks", "--dry-run"]);
        assert!(dry.contains("session-start") && dry.contains("\"serve\""), "{client}: {dry}");
        assert_eq!(scene.text(file), before);

        scene.succeeds(&["install", client, "--hooks", "--agent=ada", "--", "--lock-wait=1s"]);
        assert!(
            !scene.text(file).contains("--toolset"),
            "{client}: those of the server by default"
        );
        let settings: Value = serde_json::from_str(&scene.text(file)).expect("JSON");
        assert_eq!(settings["mine"], true);
        let handler = settings.pointer(place).expect(client);
        let command = handler["command"].as_str().expect("a command");
        let mut started = match handler["args"].as_array() {
            Some(arguments) => {
                let mut started = Command::new(command);
                started.args(arguments.iter().filter_map(Value::as_str));
                started
            }
            None => {
                let mut started = Command::new("sh");
                started.args(["-c", command]);
                started
            }
        };
        started.current_dir(scene.repository.root()).env("HOME", scene.home.path());
        let output = started.stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(0), "{client}: {output:?}");
        let told: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(told.is_object(), "{client}: {told}");

        let again = ["install", client, "--hooks", "--agent=ada", "--", "--lock-wait=1s"];
        assert!(scene.succeeds(&again).contains("has agent-memory already, in `"), "{client}");
        scene.succeeds(&["install", client, "--hooks=all"]);
        let text = scene.text(file);
        assert_eq!(text.matches("session-end").count(), 1, "{text}");
        assert_eq!(text.matches("pre-compact").count(), 1, "{text}");
        // `install` without the option keeps the hooks.
        scene.succeeds(&["install", client]);
        assert_eq!(scene.text(file).matches("session-").count(), 2, "{client}");

        scene.succeeds(&["uninstall", client]);
        assert_eq!(scene.text(file), before, "{client}");
        let none = scene.succeeds(&["uninstall", client]);
        assert!(none.contains("has no agent-memory, in "), "{none}");
    }
}

#[test]
fn hooks_that_cannot_work_are_refused_before_anything_is_written() {
    let scene = Scene::new();
    scene.write(".claude/settings.json", "{ \"hooks\": [] }");
    scene.fails(2, &["install", "zed", "--hooks"], "no hooks of Zed are known");
    scene.fails(2, &["install", "claude-code", "--hooks"], "`hooks` is no object");
    scene.fails(2, &["install", "codex", "--hooks=often"], "often");
    scene.fails(2, &["install", "codex", "--agent", "ada"], "--hooks");
    scene.fails(2, &["install", "codex", "--hooks", "--http", "http://a/mcp"], "--http");
    scene.fails(2, &["install", "codex", "--hooks", "--", "--model-timeout=3s"], "by its variable");
    assert_eq!(scene.text(".claude/settings.json"), "{ \"hooks\": [] }");
    assert!(!scene.path(".claude.json").exists() && !scene.path(".codex").exists());
}

#[test]
fn a_project_has_hooks_of_its_own() {
    let scene = Scene::new();
    scene.succeeds(&["install", "claude-code", "--scope=project", "--hooks"]);
    let file = scene.repository.root().join(".claude/settings.json");
    assert!(fs::read_to_string(&file).expect("a file").contains("session-start"));
    assert!(!scene.path(".claude").exists());
    scene.succeeds(&["uninstall", "claude-code", "--scope=project"]);
    // An empty object stays: without a backup, nobody knows whether the file existed before.
    for file in [".mcp.json", ".claude/settings.json"] {
        let text = fs::read_to_string(scene.repository.root().join(file));
        assert_eq!(text.expect(file), "{}\n");
    }
}

/// A shell script stands for the command of Claude Code, and edits its file.
#[cfg(unix)]
#[test]
fn claude_code_changes_its_file_itself() {
    use std::os::unix::fs::PermissionsExt;

    let scene = Scene::new();
    scene.write(
        "bin/claude",
        "#!/bin/sh\n\
         echo \"$*\" >>\"$HOME/calls\"\n\
         case \"$2\" in\n\
         add-json) printf '{\"mcpServers\": {\"%s\": %s}}\\n' \"$5\" \"$6\" >\"$HOME/.claude.json\" ;;\n\
         remove) printf '{\"mcpServers\": {}}\\n' >\"$HOME/.claude.json\" ;;\n\
         esac\n",
    );
    let program = scene.path("bin/claude");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("a mode");
    scene.succeeds(&["install", "claude-code"]);
    let servers: Value = serde_json::from_str(&scene.text(".claude.json")).expect("JSON");
    let entry = json!({"type": "stdio", "command": PROGRAM, "args": ["serve"]});
    assert_eq!(servers["mcpServers"]["agent-memory"], entry);
    scene.succeeds(&["install", "claude-code"]);
    scene.succeeds(&["install", "claude-code", "--http", "http://127.0.0.1:8080/mcp"]);
    scene.succeeds(&["uninstall", "claude-code"]);
    let calls = scene.text("calls");
    let calls: Vec<&str> = calls.lines().map(|call| call.split(" {").next().unwrap()).collect();
    let add = "mcp add-json --scope user agent-memory";
    let remove = "mcp remove --scope user agent-memory";
    assert_eq!(calls, [add, remove, add, remove]);

    // A file that cannot be executed is skipped.
    fs::create_dir(scene.path("other")).expect("a directory");
    fs::write(scene.path("other/claude"), "no program").expect("a file");
    let path = format!("{}:{}", scene.path("other").display(), scene.path("bin").display());
    let mut command = scene.command(&["install", "claude-code"]);
    let output = command.env("PATH", path).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    scene.succeeds(&["uninstall", "claude-code"]);

    fs::write(&program, "#!/bin/sh\necho 'not today' >&2; exit 1\n").expect("a script");
    scene.fails(3, &["install", "claude-code"], "not today");
    fs::write(&program, "#!/bin/sh\n").expect("a script");
    scene.fails(3, &["install", "claude-code"], "is not as it should be");
}

#[test]
fn a_token_is_named_by_its_variable_and_never_written() {
    let scene = Scene::new();
    let url = "--http=https://memory.example.com/mcp";
    scene.succeeds(&["install", "codex", url, "--token-variable=MEMORY"]);
    let text = scene.text(".codex/config.toml");
    assert!(text.contains("bearer_token_env_var = \"MEMORY\""), "{text}");
    let token = format!("amt_{}", "x".repeat(40));
    for wrong in [token.as_str(), "$MEMORY", ""] {
        let option = format!("--token-variable={wrong}");
        scene.fails(2, &["install", "codex", url, &option], "the name of an environment variable");
    }
    let said = scene.run(&["install", "codex", url, &format!("--token-variable={token}")]);
    assert!(!String::from_utf8_lossy(&said.stderr).contains(&token), "{said:?}");
    assert_eq!(scene.text(".codex/config.toml"), text);
    scene.fails(2, &["install", "codex", "--token-variable=MEMORY"], "--http");
    scene.fails(
        2,
        &["install", "zed", url, "--token-variable=MEMORY"],
        "leave `--token-variable` out",
    );
}

#[test]
fn a_relative_path_is_refused_in_the_file_of_all_projects() {
    let scene = Scene::new();
    for option in [["--data-dir", "mine"], ["--allow", "."], ["--memory-dir", "a/b"]] {
        let install = [&["install", "cursor", "--"][..], &option].concat();
        scene.fails(2, &install, "write the absolute path, as in `/");
        assert!(!scene.path(".cursor/mcp.json").exists());
    }
    let of_project = ["install", "cursor", "--scope=project", "--dry-run", "--", "--data-dir=mine"];
    scene.succeeds(&of_project);
}

#[test]
fn the_project_is_found_when_the_client_starts_the_server() {
    let scene = Scene::new();
    let install = ["install", "cursor", "--agent-from=project", "--", "--lock-wait=1s"];
    let mut elsewhere = scene.command(&install);
    let output = elsewhere.current_dir(scene.home.path()).output().expect("it runs");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let servers: Value = serde_json::from_str(&scene.text(".cursor/mcp.json")).expect("JSON");
    let arguments = &servers["mcpServers"]["agent-memory"]["args"];
    assert_eq!(*arguments, json!(["serve", "--agent-from=project", "--lock-wait=1s"]));
    let desktop = ["install", "claude-desktop", "--agent-from=project"];
    scene.fails(2, &desktop, "name the project, as in `-- --project NAME`");
    scene.succeeds(&[&desktop[..], &["--dry-run", "--", "--project=acme"]].concat());
    for other in ["--http=http://127.0.0.1:1/mcp", "--agent=ada"] {
        let both = ["install", "cursor", "--hooks", "--agent-from=project", other];
        scene.fails(2, &both, "cannot be used with");
    }
}
