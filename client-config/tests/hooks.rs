//! Files with hooks: this program's hooks are added and removed, and nothing else changes.

mod scene;

use std::fs;
use std::path::Path;

use agent_memory_client_config::{
    Client, Directories, Error, Event, Hooks, Plan, Scope, Server, installed_hooks,
};
use scene::Scene;

/// Files that their clients read.
const GOOD: [(Client, &str); 25] = [
    (Client::ClaudeCode, ""),
    (Client::ClaudeCode, "{}"),
    (Client::ClaudeCode, "{\n}\n"),
    (
        Client::ClaudeCode,
        "{\n  \"model\": \"opus\",\n  \"permissions\": { \"allow\": [\"Bash\"] }\n}\n",
    ),
    (Client::ClaudeCode, "{ \"hooks\": {} }\n"),
    (Client::ClaudeCode, "{\n  \"hooks\": {\n    \"SessionStart\": []\n  }\n}\n"),
    (
        Client::ClaudeCode,
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \"matcher\": \"startup\",\n        \"hooks\": [\n          { \"type\": \"command\", \"command\": \"theirs\" }\n        ]\n      }\n    ],\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs hook claude-code session-end\" }] }]\n  }\n}\n",
    ),
    (
        Client::ClaudeCode,
        "{\n\t\"hooks\": {\n\t\t\"PreCompact\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs\", \"timeout\": 5 }] }\n\t\t]\n\t}\n}\n",
    ),
    (
        Client::ClaudeCode,
        "{\r\n  \"hooks\": {\r\n    \"SessionEnd\": [{ \"hooks\": [] }]\r\n  },\r\n  \"env\": {}\r\n}\r\n",
    ),
    (Client::ClaudeCode, "\u{feff}{\n  \"env\": { \"A\": \"1\" }\n}\n"),
    (
        Client::ClaudeCode,
        "{\"hooks\":{\"SessionStart\":[{\"hooks\":[{\"type\":\"http\",\"url\":\"theirs\"}]}]}}",
    ),
    (
        Client::ClaudeCode,
        "{ \"hooks\": { \"SessionStart\": [\"what\", { \"hooks\": 1 }, { \"other\": [] }] } }\n",
    ),
    (Client::Codex, ""),
    (
        Client::Codex,
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      { \"matcher\": \"startup\", \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs\" }] }\n    ]\n  }\n}\n",
    ),
    (
        Client::Codex,
        "{ \"hooks\": { \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs\" }] }] } }",
    ),
    (Client::Cursor, ""),
    (Client::Cursor, "{}\n"),
    (Client::Cursor, "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"),
    (
        Client::Cursor,
        "// mine\n{\n  \"version\": 1,\n  \"hooks\": {\n    // first\n    \"sessionStart\": [\n      { \"command\": \"theirs\" }, // last\n    ],\n    \"stop\": [{ \"command\": \"theirs\" }],\n  },\n}\n",
    ),
    (
        Client::Cursor,
        "{ \"hooks\": { \"sessionEnd\": [{ \"command\": \"theirs\" }] }, \"version\": 1 }\n",
    ),
    (Client::Gemini, ""),
    (Client::Gemini, "{\n  \"ui\": { \"theme\": \"Default\" }\n}\n"),
    (
        Client::Gemini,
        "{\n  \"mcpServers\": { \"a\": { \"command\": \"theirs\" } },\n  \"ui\": {\n    \"theme\": \"Default\", // dark\n    \"a\": 1,\n    \"b\": 2\n  },\n  \"hooks\": {\n    \"PreCompress\": [{ \"matcher\": \"*\", \"hooks\": [{ \"type\": \"command\", \"command\": \"theirs\" }] }]\n  }\n}\n",
    ),
    (Client::Gemini, "// nothing yet\n"),
    (Client::Gemini, "{\r\n  \"hooks\": { \"enabled\": [] }\r\n}\r\n"),
];

/// Files that are refused, and a part of the reason.
const BAD: [(Client, &str, &str); 7] = [
    (Client::ClaudeCode, "{", "it is not JSON"),
    (Client::ClaudeCode, "[]", "it holds no object"),
    (Client::ClaudeCode, "{ \"hooks\": [] }", "`hooks` is no object"),
    (Client::Codex, "{ \"hooks\": { \"SessionStart\": {} } }", "`hooks.SessionStart` is no list"),
    (Client::Cursor, "{ \"hooks\": { \"preCompact\": 1 } }", "`hooks.preCompact` is no list"),
    (Client::Cursor, "{ \"hooks\": {}, \"hooks\": {} }", "twice"),
    (Client::Gemini, "{ \"hooks\": { \"PreCompress\": null } }", "`hooks.PreCompress` is no list"),
];

fn hooks(program: &str, events: &[Event]) -> Hooks {
    Hooks { start: vec![program.to_owned()], events: events.to_vec(), options: Vec::new() }
}

fn all() -> Hooks {
    hooks("/opt/bin/agent-memory", &Event::ALL)
}

fn install(client: Client, file: &Path) -> Result<Plan, Error> {
    let plan = Plan::install_hooks(file, client, &all())?;
    plan.carry_out()?;
    Ok(plan)
}

fn uninstall(client: Client, file: &Path) -> Plan {
    let plan = Plan::uninstall_hooks(file, client).unwrap();
    plan.carry_out().unwrap();
    plan
}

#[test]
fn hooks_are_added_once_and_taken_out_to_the_byte() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        let plan = install(client, &file).unwrap_or_else(|error| panic!("{before:?}: {error}"));
        let after = scene.text();
        assert!(!plan.changes_nothing() && plan.diff().contains("+ "), "{before:?}");
        assert_eq!(scene.names(), ["settings", "settings.agent-memory-backup"], "{before:?}");
        let found = installed_hooks(&file, client).unwrap();
        let events: Vec<Event> = found.iter().map(|(event, _)| *event).collect();
        assert_eq!(events, Event::ALL, "{before:?}: {after}");
        for (event, line) in found {
            assert_eq!(line, ["/opt/bin/agent-memory", "hook", client.name(), event.name()]);
        }
        assert_eq!(before.matches("theirs").count(), after.matches("theirs").count(), "{after}");
        if before.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        }

        let again = install(client, &file).unwrap();
        assert!(again.changes_nothing() && again.diff().is_empty(), "{before:?}");
        assert_eq!(scene.text(), after);

        uninstall(client, &file);
        assert_eq!(scene.text(), before, "after {after:?}");
        assert_eq!(scene.names(), ["settings"], "{before:?}");
        assert!(uninstall(client, &file).changes_nothing());
    }
}

#[test]
fn without_the_state_before_the_hooks_alone_are_taken_out() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        install(client, &file).unwrap();
        // Without the backup and with a later edit, the earlier bytes cannot be restored: only the
        // hooks are removed.
        fs::remove_file(file.with_file_name("settings.agent-memory-backup")).unwrap();
        fs::write(&file, scene.text() + "\n// later\n").unwrap();
        uninstall(client, &file);
        let after = scene.text();
        assert!(after.ends_with("\n// later\n"), "{before:?}: {after}");
        assert!(!after.contains("/opt/bin"), "{before:?}: {after}");
        for word in ["theirs", "theme", "matcher", "first", "last", "version", "opus", "timeout"] {
            let before = before.matches(word).count();
            let after = after.matches(word).count();
            assert!(word == "version" || before == after, "{word}: {}", scene.text());
        }
        install(client, &file).expect("it is still read");
    }
}

#[test]
fn other_events_and_another_program_replace_what_was_there() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        install(client, &file).unwrap();
        let start = hooks("/new/agent-memory", &[Event::SessionStart]);
        Plan::install_hooks(&file, client, &start).unwrap().carry_out().unwrap();
        let found = installed_hooks(&file, client).unwrap();
        assert_eq!(found.len(), 1, "{before:?}: {}", scene.text());
        assert_eq!((found[0].0, &*found[0].1[0]), (Event::SessionStart, "/new/agent-memory"));
        assert!(!scene.text().contains("/opt/bin"), "{}", scene.text());
        uninstall(client, &file);
        assert_eq!(scene.text(), before);
    }
}

#[test]
fn what_no_client_reads_is_refused_and_left_as_it_is() {
    for (client, before, reason) in BAD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        let refused =
            [Plan::install_hooks(&file, client, &all()), Plan::uninstall_hooks(&file, client)];
        for refused in refused {
            let error = refused.expect_err(before).to_string();
            assert!(error.contains(reason) && error.contains("settings"), "{before:?}: {error}");
        }
        assert_eq!(scene.text(), before);
        assert_eq!(scene.names(), ["settings"]);
    }
}

#[test]
fn a_file_that_is_missing_is_made_and_removed() {
    for client in Client::ALL.into_iter().filter(|client| client.has_hooks()) {
        let scene = Scene::new();
        let file = scene.directory.path().join("a/settings");
        install(client, &file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains("agent-memory"), "{client:?}");
        uninstall(client, &file);
        assert!(!file.exists(), "{client:?}");
    }
}

#[test]
fn a_hook_that_somebody_wrote_keeps_its_other_fields_and_has_a_copy() {
    let group = "{ \"matcher\": \"startup\", \"hooks\": [{ \"type\": \"command\", \"command\": \"agent-memory hook claude-code session-start\", \"timeout\": 7 }] }";
    let before = format!("{{\n  \"hooks\": {{ \"SessionStart\": [{group}] }}\n}}\n");
    let scene = Scene::with(before.as_bytes());
    let file = scene.file();
    let plan = install(Client::ClaudeCode, &file).unwrap();
    let backup = plan.backup().expect("a copy");
    assert_eq!(fs::read_to_string(&backup).unwrap(), before);
    let after = scene.text();
    assert!(after.contains("\"timeout\": 7") && after.contains("\"startup\""), "{after}");
    assert_eq!(after.matches("session-start").count(), 1, "{after}");
    assert!(after.contains("/opt/bin/agent-memory"), "{after}");
    uninstall(Client::ClaudeCode, &file);
    assert!(!scene.text().contains("agent-memory"), "{}", scene.text());
    assert_eq!(fs::read_to_string(&backup).unwrap(), before, "it is the only copy");
}

#[test]
fn a_hook_that_does_anything_else_is_not_ours_and_stays() {
    for line in [
        "node ~/dev/my-agent-memory-dashboard/cli.js hook claude-code session-end --port 99 && ~/bin/backup.sh",
        "/x/agent-memory hook claude-code session-end ; /home/me/save-my-notes.sh",
        "echo agent-memory; other-tool hook claude-code session-end",
    ] {
        let theirs =
            format!("{{ \"hooks\": [{{ \"type\": \"command\", \"command\": \"{line}\" }}] }}");
        let before = format!("{{\n  \"hooks\": {{ \"SessionEnd\": [{theirs}] }}\n}}\n");
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        assert!(installed_hooks(&file, Client::ClaudeCode).unwrap().is_empty(), "{line}");
        assert!(uninstall(Client::ClaudeCode, &file).changes_nothing(), "{line}");
        for events in [&[Event::SessionStart][..], &Event::ALL] {
            let hooks = hooks("/opt/bin/agent-memory", events);
            let plan = Plan::install_hooks(&file, Client::ClaudeCode, &hooks).unwrap();
            plan.carry_out().unwrap();
            assert!(scene.text().contains(&theirs), "{line}: {}", scene.text());
            assert_eq!(scene.text().matches("/opt/bin").count(), events.len(), "{line}");
        }
        uninstall(Client::ClaudeCode, &file);
        assert_eq!(scene.text(), before, "{line}");
    }
}

#[test]
fn a_hook_by_hand_has_a_copy_and_a_program_of_another_name_is_refused() {
    let before = "{ \"hooks\": { \"sessionEnd\": [{ \"command\": \"agent-memory hook cursor session-end --agent ada\" }] } }\n";
    let scene = Scene::with(before.as_bytes());
    let file = scene.file();
    let backup = install(Client::Cursor, &file).unwrap().backup().expect("a copy");
    assert_eq!(fs::read_to_string(backup).unwrap(), before);
    let renamed = hooks("/opt/agent-memory/memory", &Event::ALL);
    let error = Plan::install_hooks(&file, Client::Cursor, &renamed).unwrap_err().to_string();
    assert!(error.contains("name the program `agent-memory`"), "{error}");
}

#[test]
fn what_comments_are_in_stays_without_the_state_before() {
    let before = "{\n  \"hooks\": {\n    \"SessionEnd\": [], // none\n    \"PreCompact\": [ // nothing yet\n    ],\n    \"SessionStart\": [ /* later */ ]\n  }\n}\n";
    for later in ["", "\n// later\n"] {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        install(Client::ClaudeCode, &file).unwrap();
        fs::remove_file(file.with_file_name("settings.agent-memory-backup")).unwrap();
        fs::write(&file, scene.text() + later).unwrap();
        let written = scene.text();
        uninstall(Client::ClaudeCode, &file);
        for part in ["// none", "// nothing yet", "/* later */", "PreCompact", "SessionStart"] {
            assert!(scene.text().contains(part), "{part}: {written}{}", scene.text());
        }
    }
}

#[test]
fn hooks_of_a_project_leave_the_file_that_was_there() {
    for client in Client::ALL.into_iter().filter(|client| client.has_hooks()) {
        let scene = Scene::with(b"{}\n");
        let file = scene.file();
        let plan = Plan::install_hooks(&file, client, &all()).unwrap().without_backup();
        plan.carry_out().unwrap();
        let plan = Plan::uninstall_hooks(&file, client).unwrap().without_backup();
        plan.carry_out().unwrap();
        assert_eq!(scene.text(), "{}\n", "{client:?}");
    }
}

#[test]
fn a_server_and_hooks_in_one_file_come_and_go_together() {
    let server = Server::Command {
        program: "/opt/bin/agent-memory".to_owned(),
        arguments: vec!["serve".to_owned()],
    };
    let client = Client::Gemini;
    for (_, before) in GOOD.into_iter().filter(|(of, _)| *of == client) {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        let server_alone = || Plan::install(&file, client, &server).unwrap();
        let both = || Plan::install_both(&file, client, &server, &all()).unwrap();
        both().carry_out().unwrap();
        let after = scene.text();
        assert!(both().changes_nothing() && server_alone().changes_nothing(), "{after}");
        assert_eq!(installed_hooks(&file, client).unwrap().len(), 3, "{after}");

        // The server is installed before the hooks.
        fs::write(&file, before).unwrap();
        fs::remove_file(file.with_file_name("settings.agent-memory-backup")).unwrap();
        server_alone().carry_out().unwrap();
        both().carry_out().unwrap();
        assert_eq!(scene.text(), after, "{before:?}");
        // Another server replaces the entry, and the hooks stay.
        let other = Server::Url { url: "http://127.0.0.1:1/mcp".to_owned(), token_variable: None };
        Plan::install(&file, client, &other).unwrap().carry_out().unwrap();
        assert_eq!(installed_hooks(&file, client).unwrap().len(), 3, "{}", scene.text());
        Plan::uninstall(&file, client).unwrap().carry_out().unwrap();
        assert_eq!(scene.text(), before);
        assert_eq!(scene.names(), ["settings"]);
    }
}

#[test]
fn the_change_of_two_places_is_shown_as_two() {
    let lines: String = (0..20).map(|line| format!("  \"k{line}\": {line},\n")).collect();
    let before =
        format!("{{\n  \"mcpServers\": {{\n    \"a\": {{}}\n  }},\n{lines}  \"hooks\": {{}}\n}}\n");
    let scene = Scene::with(before.as_bytes());
    let server = Server::Url { url: "http://127.0.0.1:1/mcp".to_owned(), token_variable: None };
    let plan = Plan::install_both(&scene.file(), Client::Gemini, &server, &all()).unwrap();
    let diff = plan.diff();
    assert!(diff.contains("\n...\n") && !diff.contains("\"k9\""), "{diff}");
}

#[test]
fn each_client_with_hooks_has_its_file_and_no_other_has_one() {
    let directories = Directories {
        home: "/home".into(),
        claude: None,
        codex: None,
        xdg_config: None,
        app_data: None,
        project: Some("/project".into()),
    };
    for client in Client::ALL {
        let files =
            [Scope::User, Scope::Project].map(|scope| client.hooks_file(scope, &directories));
        match files {
            [Ok(user), Ok(project)] => {
                assert!(client.has_hooks(), "{client:?}");
                assert!(user.starts_with("/home") && project.starts_with("/project"), "{client:?}");
                let servers = client.file(Scope::User, &directories).unwrap();
                assert_eq!(servers == user, client.has_one_file(), "{client:?}");
            }
            _ => assert!(!client.has_hooks(), "{client:?}"),
        }
    }
    let error = Client::Zed.hooks_file(Scope::User, &directories).unwrap_err().to_string();
    assert!(error.contains("leave `--hooks` out"), "{error}");
}
