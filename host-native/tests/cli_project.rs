//! `--agent-from project`: each repository has its own memory, its worktrees share it, and hooks and
//! servers use the same one.

mod process;

use process::{Client, ProtocolVersion, agent_memory};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home directory with repositories below it, made without Git.
struct Scene(tempfile::TempDir);

impl Scene {
    /// `main` has the worktree `linked`, `other` is another repository, and `plain` is not a
    /// repository.
    fn new() -> Self {
        let scene = Scene(tempfile::tempdir().expect("a directory"));
        for repository in ["main/.git", "other/.git"] {
            scene.git_directory(repository);
        }
        scene.worktree("linked", "main/.git");
        fs::create_dir(scene.path("plain")).expect("a directory");
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().expect("a directory").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }

    fn git_directory(&self, name: &str) {
        self.write(&format!("{name}/HEAD"), "ref: refs/heads/main\n");
        for directory in ["objects", "refs"] {
            fs::create_dir_all(self.path(name).join(directory)).expect("a directory");
        }
    }

    fn worktree(&self, name: &str, common: &str) {
        let own = format!("{common}/worktrees/{name}");
        self.write(&format!("{name}/.git"), &format!("gitdir: {}\n", self.path(&own).display()));
        self.write(&format!("{own}/HEAD"), "ref: refs/heads/other\n");
        self.write(&format!("{own}/commondir"), "../..\n");
        let back = self.path(name).join(".git");
        self.write(&format!("{own}/gitdir"), &format!("{}\n", back.display()));
    }

    /// A command that runs in a directory of this home, with its environment.
    fn within(&self, mut command: Command, directory: &str) -> Command {
        command.current_dir(self.path(directory));
        command.env("HOME", self.path("")).env("PATH", self.path("bin"));
        command.env("AGENT_MEMORY_DATA_DIR", self.path("data"));
        command.env("AGENT_MEMORY_MEMORY_DIR", self.path("records"));
        command.env("AGENT_MEMORY_FIXED_CLOCK", "2025-01-20T10:00:00Z");
        command.env("AGENT_MEMORY_LOG_LEVEL", "ERROR");
        for name in
            ["APPDATA", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"]
        {
            command.env_remove(name);
        }
        command
    }

    fn program(&self, directory: &str, arguments: &[&str]) -> Command {
        let mut command = self.within(agent_memory(&self.path(directory)), directory);
        command.args(arguments);
        command
    }

    fn run(&self, directory: &str, arguments: &[&str]) -> Output {
        self.program(directory, arguments).output().expect("it runs")
    }

    /// Stores a memory of the project in the toolset of records.
    #[track_caller]
    fn remember(&self, directory: &str, content: &str) {
        let memory = json!({"type": "core", "content": content}).to_string();
        let output =
            self.run(directory, &["records", "store_memory", &memory, "--agent-from", "project"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }

    /// The contents of the records that the project reaches, sorted.
    #[track_caller]
    fn remembered(&self, directory: &str) -> Vec<String> {
        let output = self.run(directory, &["records", "query_memories", "--agent-from=project"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let found = found["memories"].as_array().expect("a list").iter();
        let mut found: Vec<String> =
            found.map(|memory| memory["content"].as_str().expect("a text").to_owned()).collect();
        found.sort();
        found
    }

    #[track_caller]
    fn fails(&self, directory: &str, arguments: &[&str], part: &str) {
        let output = self.run(directory, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}

#[test]
fn worktrees_are_one_project_and_another_repository_is_apart() {
    let scene = Scene::new();
    fs::create_dir(scene.path("main/src")).expect("a directory");
    scene.remember("main", "tabs");
    scene.remember("linked", "spaces");
    for directory in ["main", "main/src", "main/.git", "linked"] {
        assert_eq!(scene.remembered(directory), ["spaces", "tabs"], "{directory}");
    }
    assert_eq!(scene.remembered("other"), [] as [&str; 0]);
    scene.remember("other", "kites");
    assert_eq!(scene.remembered("other"), ["kites"]);
    assert_eq!(scene.remembered("main"), ["spaces", "tabs"]);
}

#[test]
fn a_bare_repository_shares_with_its_worktrees_and_a_submodule_is_a_project_of_its_own() {
    let scene = Scene::new();
    scene.git_directory("bare.git");
    scene.worktree("tree", "bare.git");
    scene.remember("bare.git", "bare");
    assert_eq!(scene.remembered("tree"), ["bare"]);
    scene.git_directory("main/.git/modules/lib");
    scene.write("main/.git/modules/lib/config", "[core]\n\tworktree = ../../../lib\n");
    scene.write("main/lib/.git", "gitdir: ../.git/modules/lib\n");
    scene.remember("main", "of main");
    scene.remember("main/lib", "of lib");
    assert_eq!(scene.remembered("main/lib"), ["of lib"]);
    assert_eq!(scene.remembered("main"), ["of main"]);
}

#[test]
fn no_other_agent_is_in_reach_of_any_toolset() {
    let scene = Scene::new();
    let other = json!({"type": "core", "content": "secret", "agent_id": "ada"}).to_string();
    let stored = scene.run("main", &["records", "store_memory", &other]);
    assert!(stored.status.success(), "{stored:?}");
    for (toolset, tool, arguments) in [
        ("records", "query_memories", json!({"agent_id": "ada"})),
        ("layers", "get_core_memories", json!({"agent_id": "ada"})),
        ("sessions", "read_summary", json!({"agent_name": "ada"})),
        ("records,memory", "search_memory", json!({"agent": "ada", "query": "secret"})),
    ] {
        let arguments = arguments.to_string();
        let bound = ["call", tool, &arguments, "--toolset", toolset, "--agent-from=project"];
        let output = scene.run("main", &bound);
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{toolset}: {output:?}");
        assert!(
            said.contains("is not granted to this caller: leave it out to use `main-"),
            "{said}"
        );
    }
    let found = scene.run("main", &["search", "secret", "--agent-from=project"]);
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    scene.fails(
        "main",
        &["search", "x", "--agent=ada", "--agent-from=project"],
        "cannot be used with",
    );
}

#[test]
fn a_name_stands_for_the_project_wherever_the_program_is_started() {
    let scene = Scene::new();
    let memory = json!({"type": "core", "content": "tabs"}).to_string();
    let store = ["records", "store_memory", &memory, "--agent-from=project", "--project=acme"];
    let stored = scene.run("plain", &store);
    assert!(stored.status.success(), "{stored:?}");
    let mut by_variables = scene.program("other", &["records", "query_memories"]);
    by_variables.env("AGENT_MEMORY_AGENT_FROM", "project").env("AGENT_MEMORY_PROJECT", "acme");
    let found = by_variables.output().expect("it runs");
    assert!(String::from_utf8_lossy(&found.stdout).contains("tabs"), "{found:?}");
    let named = json!({"agent_id": "acme"}).to_string();
    let found = scene.run("plain", &["records", "query_memories", &named]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("tabs"), "{found:?}");
}

#[test]
fn the_project_of_claude_code_is_that_of_the_session() {
    let scene = Scene::new();
    scene.remember("main", "tabs");
    let arguments = ["records", "query_memories", "--agent-from=project"];
    let mut command = scene.program("other", &arguments);
    command.env("CLAUDE_PROJECT_DIR", scene.path("linked"));
    let found = command.output().expect("it runs");
    assert!(String::from_utf8_lossy(&found.stdout).contains("tabs"), "{found:?}");
}

#[test]
fn without_a_project_the_error_says_what_to_do() {
    let scene = Scene::new();
    let bound = ["call", "list_sessions", "--agent-from=project"];
    scene.fails("plain", &bound, "no repository is around");
    scene.fails("plain", &bound, "name the project with `--project` or `AGENT_MEMORY_PROJECT`");
    scene.fails("plain", &["serve", "--agent-from=project"], "so there is no project");
    // A repository at the home directory is ignored: it holds far more than one project.
    scene.git_directory(".git");
    scene.fails("plain", &bound, "no repository is around");
    scene.fails("main", &["call", "x", "--agent-from=ada"], "`ada`, which is not `project`");
    scene.fails("main", &["call", "x", "--project=acme"], "without `--agent-from project`");
    let unnamed = ["call", "x", "--agent-from=project", "--project=../x"];
    scene.fails("main", &unnamed, "`--project` is `../x`, which is not a name");
    // A repository that pretends to be a worktree of another one.
    let target = scene.path("main/.git/worktrees/linked");
    scene.write("thief/.git", &format!("gitdir: {}\n", target.display()));
    scene.fails("thief", &bound, "does not point back");
}

#[test]
fn a_server_over_http_takes_no_project_from_its_directory() {
    let scene = Scene::new();
    let serve = ["serve", "--http=127.0.0.1:0", "--agent-from=project"];
    scene.fails("main", &serve, "a server over HTTP cannot know the project of its clients");
    // With a name, the server starts, and only refuses its address.
    let named = ["serve", "--http=192.0.2.1:0", "--agent-from=project", "--project=acme"];
    scene.fails("main", &named, "make one with `agent-memory token create NAME`");
}

#[test]
fn doctor_tells_the_agent_of_the_project() {
    let scene = Scene::new();
    let line = |directory: &str, arguments: &[&str]| {
        let output = scene.run(directory, &[&["doctor"], arguments].concat());
        let report = String::from_utf8(output.stdout).expect("UTF-8");
        let line = report.lines().find(|line| line.contains(" project "));
        line.map(str::to_owned)
    };
    let would_be = line("main", &[]).expect("a project");
    assert!(would_be.contains("its agent is `main-"), "{would_be}");
    let is = line("linked", &["--agent-from=project"]).expect("a project");
    let agent = would_be.split('`').nth(1).expect("a name");
    assert!(is.contains(&format!("for the agent `{agent}` alone")), "{is}");
    assert_eq!(line("plain", &[]), None);
    let missing = line("plain", &["--agent-from=project"]).expect("an error");
    assert!(missing.starts_with("error"), "{missing}");
}

/// The command line in an entry of Claude Code's file, of the server or of a hook.
fn command_of(entry: &Value) -> Command {
    let mut command = Command::new(entry["command"].as_str().expect("a program"));
    let arguments = entry["args"].as_array().expect("a list").iter();
    command.args(arguments.map(|argument| argument.as_str().expect("a text")));
    command
}

fn hook(scene: &Scene, entry: &Value, directory: &str) -> String {
    let event = json!({"cwd": scene.path(directory), "session_id": "s-1", "reason": "other"});
    let mut command = scene.within(command_of(entry), "plain");
    command.env("CLAUDE_PROJECT_DIR", scene.path(directory));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut hook = command.spawn().expect("it starts");
    let mut input = hook.stdin.take().expect("an input");
    input.write_all(event.to_string().as_bytes()).expect("it is read");
    let output = hook.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json_of(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

#[test]
fn a_session_shows_what_the_last_one_of_its_project_decided_with_hooks_alone() {
    let scene = Scene::new();
    // The directory of `install` is no repository: the project is found only when a session starts.
    let install =
        ["install", "claude-code", "--hooks=all", "--agent-from=project", "--toolset=all"];
    let installed = scene.run("plain", &install);
    assert_eq!(installed.status.code(), Some(0), "{installed:?}");
    let server = json_of(&scene.path(".claude.json"))["mcpServers"]["agent-memory"].clone();
    let hooks = json_of(&scene.path(".claude/settings.json"))["hooks"].clone();
    let of_event = |name: &str| hooks[name][0]["hooks"][0].clone();

    let mut session = scene.within(command_of(&server), "main");
    let mut client = Client::new(&mut session, ProtocolVersion::Initialized);
    let decision = json!({"type": "core", "content": "Keep the cache in SQLite."});
    let kept = client.call("store_memory", decision);
    assert_ne!(kept["result"]["isError"], true, "{kept}");
    let begun = client.call("start_session", json!({}));
    assert_ne!(begun["result"]["isError"], true, "{begun}");
    let decision = json!({"section": "Decisions", "content": "- Ship on Tuesdays."});
    let logged = client.call("append_entry", decision);
    assert_ne!(logged["result"]["isError"], true, "{logged}");
    assert!(client.end().1.success());
    assert_eq!(hook(&scene, &of_event("SessionEnd"), "main"), "");
    let agents = fs::read_dir(scene.path("main/.github/agent-memory")).expect("a directory");
    let agents: Vec<PathBuf> = agents.map(|entry| entry.expect("an entry").path()).collect();
    let [agent] = &agents[..] else { panic!("one agent: {agents:?}") };
    let log = fs::read_to_string(agent.join("logs/2025-01-20.md")).expect("a log");
    assert!(log.contains("the session ended (`claude-code`, session `s-1`"), "{log}");

    for (directory, is_told) in [("main", true), ("linked", true), ("other", false)] {
        let told = hook(&scene, &of_event("SessionStart"), directory);
        let told: Value = serde_json::from_str(&told).expect("JSON");
        let text = told["hookSpecificOutput"]["additionalContext"].as_str().expect("a text");
        for decision in ["Keep the cache in SQLite.", "Ship on Tuesdays."] {
            assert_eq!(text.contains(decision), is_told, "{directory}: {text}");
        }
        let name = agent.file_name().and_then(|name| name.to_str()).expect("a name");
        assert!(is_told || !text.contains(name), "{directory}: {text}");
    }
}
