//! Files of all kinds: an entry is added and taken out again, and nothing else changes.

mod scene;

use std::fs;
use std::path::Path;

use agent_memory_client_config::{Client, Directories, Error, NAME, Plan, Scope, Server};
use scene::Scene;

/// Files that their clients read.
const GOOD: [(Client, &str); 36] = [
    (Client::Cursor, ""),
    (Client::Cursor, "\n"),
    (Client::Cursor, "{}"),
    (Client::Cursor, "{}\n"),
    (Client::Cursor, "{\n}\n"),
    (Client::Cursor, "{ \"mcpServers\": {} }"),
    (Client::Cursor, "{\n  \"mcpServers\": {}\n}\n"),
    (Client::Cursor, "{\n  \"mcpServers\": {\n  }\n}\n"),
    (Client::Cursor, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"),
    (Client::Cursor, "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" }\n  }\n}\n"),
    (Client::Cursor, "{\n  \"mcpServers\": {\n    \"a\": { \"command\": \"a\" },\n  },\n}\n"),
    (Client::Cursor, "{\n\t\"mcpServers\": {\n\t\t\"a\": { \"command\": \"a\" }\n\t}\n}\n"),
    (
        Client::Cursor,
        "{\n    \"mcpServers\": {\n        \"a\": {\n            \"command\": \"a\"\n        }\n    }\n}\n",
    ),
    (
        Client::Cursor,
        "{\r\n  \"mcpServers\": {\r\n    \"a\": { \"command\": \"a\" }\r\n  }\r\n}\r\n",
    ),
    (Client::Cursor, "\u{feff}{\n  \"mcpServers\": {}\n}\n"),
    (Client::Cursor, "\u{feff}{\r\n\t\"other\": 1\r\n}"),
    (
        Client::Cursor,
        "// servers\n{\n  /* mine */ \"mcpServers\": {\n    // first\n    \"a\": { \"command\": \"a\" } // last\n    // end\n  }\n}\n// bye\n",
    ),
    (Client::Cursor, "// nothing yet\n"),
    (
        Client::Cursor,
        "{\n  \"mcpServers\": {\n    \"agent-memory-of-others\": { \"command\": \"a\" }\n  }\n}\n",
    ),
    (
        Client::Cursor,
        "{\n  \"z\": [1, 2.50, 1e5, \"\\u00e9\\/\"],\n  \"a\": null,\n  \"mcpServers\": { \"x y\": {} },\n  \"b\": {}\n}\n",
    ),
    (Client::Cursor, "{ \"a\": 1, \"a\": 2, \"mcpServers\": {} }\n"),
    (
        Client::ClaudeCode,
        "{\n  \"numStartups\": 12,\n  \"projects\": { \"/a\": { \"mcpServers\": { \"agent-memory\": {} } } }\n}\n",
    ),
    (Client::ClaudeDesktop, "{\n  \"globalShortcut\": \"Ctrl+Space\"\n}\n"),
    (
        Client::VsCode,
        "{\n  // See the documentation\n  \"inputs\": [{ \"id\": \"token\" }],\n  \"servers\": {},\n}\n",
    ),
    (
        Client::Zed,
        "// Zed settings\n//\n// For information, see the documentation.\n{\n  \"theme\": \"One\",\n  \"context_servers\": {\n    \"a\": { \"source\": \"extension\" },\n  },\n  \"vim_mode\": true, // please\n}\n",
    ),
    (
        Client::Gemini,
        "{\n  \"ui\": { \"theme\": \"Default\" },\n  \"mcpServers\": { \"a\": { \"httpUrl\": \"http://127.0.0.1:1\" } }\n}\n",
    ),
    (Client::Windsurf, "{ \"mcpServers\": { } }\n"),
    (
        Client::Opencode,
        "{\n  \"$schema\": \"config.json\",\n  \"mcp\": { \"a\": { \"type\": \"local\", \"command\": [\"a\"] } }\n}\n",
    ),
    (Client::Opencode, "{\n  \"$schema\": \"config.json\"\n}"),
    (Client::Codex, ""),
    (
        Client::Codex,
        "# mine\nmodel = \"o3\" # the best\n\n[mcp_servers.a]\ncommand = \"a\"\nargs = ['x']\n\n[tui]\ntheme = 'dark'\n",
    ),
    (Client::Codex, "model = \"o3\"\r\n\r\n[tui]\r\ntheme = 'dark'\r\n"),
    (Client::Codex, "mcp_servers = { a = { command = \"a\" } }\n"),
    (Client::Codex, "[mcp_servers]\na = { command = \"a\" } # inline\n"),
    (Client::Codex, "\u{feff}model = \"o3\"\n"),
    (Client::Codex, "[profiles.x]\nmodel = 'y'\n# the end"),
];

/// Files that are refused, and a part of the reason.
const BAD: [(Client, &str, &str); 12] = [
    (Client::Cursor, "{", "it is not JSON"),
    (Client::Cursor, "{\"mcpServers\": {}", "it is not JSON"),
    (Client::Cursor, "{\"a\": 1 \"b\": 2}", "it is not JSON"),
    (Client::Cursor, "{'a': 1}", "it is not JSON"),
    (Client::Cursor, "{a: 1}", "it is not JSON"),
    (Client::Cursor, "[]", "it holds no object"),
    (Client::Cursor, "null", "it holds no object"),
    (Client::Cursor, "{\"mcpServers\": []}", "`mcpServers` is no object"),
    (Client::VsCode, "{\"servers\": null}", "`servers` is no object"),
    (Client::Codex, "[a", "it is not TOML"),
    (Client::Codex, "mcp_servers = 1", "`mcp_servers` is no table"),
    (Client::Codex, "[[mcp_servers]]\na = 1\n", "`mcp_servers` is no table"),
];

fn server() -> Server {
    let program = "/opt/agent memory/bin/agent-memory".to_owned();
    Server::Command { program, arguments: vec!["serve".into(), "--toolset=all".into()] }
}

fn install(client: Client, file: &Path) -> Result<Plan, Error> {
    let plan = Plan::install(file, client, &server())?;
    plan.carry_out()?;
    Ok(plan)
}

fn uninstall(client: Client, file: &Path) -> Result<Plan, Error> {
    let plan = Plan::uninstall(file, client)?;
    plan.carry_out()?;
    Ok(plan)
}

/// The lines without commas: an edit may add a comma to the line before the new entry.
fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.replace(',', "")).collect()
}

/// Whether all lines of `part` are in `whole`, in the same order.
fn are_within(part: &[String], whole: &[String]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|line| whole.any(|other| other == line))
}

#[test]
fn an_entry_is_added_once_and_taken_out_to_the_byte() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        let plan = install(client, &file).unwrap_or_else(|error| panic!("{before:?}: {error}"));
        let after = scene.text();
        assert!(!plan.changes_nothing() && plan.diff().contains("+ "), "{before:?}");
        assert!(after.contains("\"serve\""), "{before:?}: {after}");
        assert_eq!(scene.names(), ["settings", "settings.agent-memory-backup"], "{before:?}");

        let again = install(client, &file).unwrap();
        assert!(again.changes_nothing() && again.diff().is_empty(), "{before:?}");
        assert_eq!(scene.text(), after);

        uninstall(client, &file).unwrap();
        assert_eq!(scene.text(), before, "after {after:?}");
        assert_eq!(scene.names(), ["settings"], "{before:?}");
        assert!(uninstall(client, &file).unwrap().changes_nothing());
    }
}

#[test]
fn nothing_else_changes() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        install(client, &scene.file()).unwrap();
        let after = scene.text();
        // An edit changes the line with the servers, so other text on that line is not compared.
        if before.lines().count() > 2 {
            let mut kept = lines(before);
            let opens = |line: &String| line.contains("{}") || line.contains("{ }");
            kept.retain(|line| !opens(line) && !line.contains("} }"));
            assert!(are_within(&kept, &lines(&after)), "{before:?}\n{after}");
        }
        assert_eq!(before.starts_with('\u{feff}'), after.starts_with('\u{feff}'), "{before:?}");
        assert_eq!(before.matches("//").count(), after.matches("//").count(), "{before:?}");
        if before.contains("\r\n") {
            assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        } else {
            assert!(!after.contains('\r'), "{after:?}");
        }
        if before.contains('\t') {
            assert!(after.contains("\t\t"), "{after:?}");
        }
    }
}

#[test]
fn without_the_state_before_the_entry_alone_is_taken_out() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        install(client, &file).unwrap();
        // Without the backup and with a later edit, the earlier bytes cannot be restored: only the
        // entry is removed.
        fs::remove_file(file.with_file_name("settings.agent-memory-backup")).unwrap();
        let comment = if client == Client::Codex { "\n# later\n" } else { "\n// later\n" };
        fs::write(&file, scene.text() + comment).unwrap();
        uninstall(client, &file).unwrap();
        let after = scene.text();
        assert!(after.ends_with(comment), "{before:?}: {after}");
        assert!(!after.contains("opt/agent memory"), "{before:?}: {after}");
        for word in ["\"a\"", "theme", "vim_mode", "please", "$schema", "numStartups", "mine"] {
            assert_eq!(
                before.contains(word),
                after.contains(word),
                "{word} of {before:?}: {after}"
            );
        }
        Plan::install(&file, client, &server()).expect("it is still read");
    }
}

#[test]
fn a_change_of_our_entry_keeps_the_state_before_it() {
    for (client, before) in GOOD {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        install(client, &file).unwrap();
        if client != Client::ClaudeDesktop {
            let url =
                Server::Url { url: "http://127.0.0.1:8080/mcp".to_owned(), token_variable: None };
            let plan = Plan::install(&file, client, &url).unwrap();
            assert!(!plan.changes_nothing(), "{before:?}");
            plan.carry_out().unwrap();
            assert!(scene.text().contains("http://127.0.0.1:8080/mcp"), "{before:?}");
            assert!(!scene.text().contains("opt/agent memory"), "{before:?}");
        }
        install(client, &file).unwrap();
        uninstall(client, &file).unwrap();
        assert_eq!(scene.text(), before);
    }
}

#[test]
fn what_no_client_reads_is_refused_and_left_as_it_is() {
    for (client, before, reason) in BAD {
        let scene = Scene::with(before.as_bytes());
        let refused = [
            Plan::install(&scene.file(), client, &server()),
            Plan::uninstall(&scene.file(), client),
        ];
        for refused in refused {
            let error = refused.expect_err(before).to_string();
            assert!(error.contains(reason) && error.contains("settings"), "{before:?}: {error}");
        }
        assert_eq!(scene.text(), before);
        assert_eq!(scene.names(), ["settings"]);
    }
    let scene = Scene::with(b"{\"a\": \"\xff\"}");
    let error = Plan::install(&scene.file(), Client::Cursor, &server()).unwrap_err();
    assert!(error.to_string().contains("it is not UTF-8"), "{error}");
}

#[test]
fn a_file_that_is_missing_is_made_and_removed() {
    for client in Client::ALL {
        let scene = Scene::new();
        let file = scene.directory.path().join("a/b/settings");
        install(client, &file).unwrap();
        assert!(fs::read_to_string(&file).unwrap().contains(NAME), "{client:?}");
        assert!(!file.with_file_name("settings.agent-memory-backup").exists());
        uninstall(client, &file).unwrap();
        assert!(!file.exists(), "{client:?}");
    }
}

#[test]
fn a_change_that_another_program_makes_meanwhile_is_not_lost() {
    let scene = Scene::with(b"{}\n");
    let plan = Plan::install(&scene.file(), Client::Cursor, &server()).unwrap();
    fs::write(scene.file(), "{ \"mine\": 1 }\n").unwrap();
    let error = plan.carry_out().unwrap_err();
    assert!(error.to_string().contains("run the command again"), "{error}");
    assert_eq!(scene.text(), "{ \"mine\": 1 }\n");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_modes_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let scene = Scene::with(b"{}\n");
    fs::set_permissions(scene.file(), PermissionsExt::from_mode(0o640)).unwrap();
    let link = scene.directory.path().join("link");
    symlink("settings", &link).unwrap();
    install(Client::Cursor, &link).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(scene.text().contains(NAME));
    for file in ["settings", "settings.agent-memory-backup"] {
        let mode = fs::metadata(scene.directory.path().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{file}");
    }
    uninstall(Client::Cursor, &link).unwrap();
    assert_eq!(scene.text(), "{}\n");

    fs::set_permissions(scene.file(), PermissionsExt::from_mode(0o440)).unwrap();
    let error = install(Client::Cursor, &link).unwrap_err();
    assert!(error.to_string().contains("read-only"), "{error}");
    assert_eq!(scene.text(), "{}\n");
}

#[test]
fn each_client_has_its_file() {
    let home = tempfile::tempdir().unwrap();
    let directories = Directories {
        home: home.path().into(),
        claude: None,
        codex: None,
        xdg_config: None,
        app_data: None,
        project: Some("/project".into()),
    };
    for client in Client::ALL {
        let file = client.file(Scope::User, &directories).unwrap();
        assert!(file.starts_with(home.path()), "{client:?}: {}", file.display());
        assert!(!client.is_found(&directories), "{client:?}");
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "{}").unwrap();
        assert!(client.is_found(&directories), "{client:?}");
        match client.file(Scope::Project, &directories) {
            Ok(file) => assert!(file.starts_with("/project"), "{client:?}"),
            Err(error) => assert!(error.to_string().contains("leave `--scope project` out")),
        }
    }
    assert!(Client::Other.file(Scope::User, &directories).is_err());
}

#[test]
fn empty_directories_of_a_client_are_removed_and_no_others() {
    let home = tempfile::tempdir().unwrap();
    let codex = home.path().join("of-codex");
    let directories = Directories {
        home: home.path().into(),
        claude: None,
        codex: Some(codex.clone()),
        xdg_config: None,
        app_data: None,
        project: None,
    };
    fs::create_dir(&codex).unwrap();
    for client in Client::ALL {
        let file = client.file(Scope::User, &directories).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    let kept = home.path().join(".cursor/rules");
    fs::create_dir(&kept).unwrap();
    for client in Client::ALL {
        client.remove_empty_directories(&directories);
    }
    let found = Client::ALL.into_iter().filter(|client| client.is_found(&directories));
    assert_eq!(found.collect::<Vec<_>>(), [Client::Codex, Client::Cursor]);
    assert!(kept.is_dir() && codex.is_dir() && home.path().is_dir());
    assert!(!home.path().join(".codeium").exists());
}

/// An entry that somebody has written by hand.
const BY_HAND: [(Client, &str); 4] = [
    (
        Client::Cursor,
        "{\n  \"mcpServers\": {\n    \"agent-memory\": {\n      \"command\": \"/old\", // mine\n      \"args\": [\"serve\"],\n      \"env\": { \"KEY\": \"precious\" },\n      \"timeout\": 60\n    }\n  }\n}\n",
    ),
    (
        Client::Cursor,
        "{ \"mcpServers\": { \"agent-memory\": { \"url\": \"http://x\", \"env\": \"precious\" } } }\n",
    ),
    (
        Client::Codex,
        "[mcp_servers.\"agent-memory\"]\ncommand = \"/old\" # mine\nstartup_timeout_sec = 20\n\n[mcp_servers.\"agent-memory\".env]\nKEY = \"precious\"\n",
    ),
    (Client::Codex, "[mcp_servers]\nagent-memory = { command = \"/old\", env = \"precious\" }\n"),
];

#[test]
fn an_entry_that_somebody_wrote_keeps_its_other_fields() {
    for (client, before) in BY_HAND {
        let scene = Scene::with(before.as_bytes());
        let file = scene.file();
        let plan = install(client, &file).unwrap_or_else(|error| panic!("{before:?}: {error}"));
        let backup = plan.backup().expect(before);
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        let after = scene.text();
        assert!(after.contains("precious") && after.contains("opt/agent memory"), "{after}");
        assert!(!after.contains("/old") && !after.contains("http://x"), "{after}");
        assert_eq!(before.contains("mine"), after.contains("mine"), "{after}");
        assert!(install(client, &file).unwrap().changes_nothing());
        let url = Server::Url { url: "http://127.0.0.1:1/mcp".to_owned(), token_variable: None };
        Plan::install(&file, client, &url).unwrap().carry_out().unwrap();
        uninstall(client, &file).unwrap();
        assert!(!scene.text().contains("127.0.0.1"), "{}", scene.text());
        assert!(Plan::uninstall(&file, client).unwrap().changes_nothing());
        assert_eq!(fs::read_to_string(&backup).unwrap(), before, "it is the only copy");
    }
}

#[test]
fn fields_that_somebody_adds_to_our_entry_stay() {
    let scene = Scene::with(b"{}\n");
    let file = scene.file();
    install(Client::Cursor, &file).unwrap();
    let text =
        scene.text().replace("\"args\"", "\"env\": { \"KEY\": \"precious\" },\n      \"args\"");
    fs::write(&file, text).unwrap();
    let url = Server::Url { url: "http://127.0.0.1:1/mcp".to_owned(), token_variable: None };
    Plan::install(&file, Client::Cursor, &url).unwrap().carry_out().unwrap();
    let after = scene.text();
    assert!(after.contains("precious") && after.contains("127.0.0.1"), "{after}");
    assert!(!after.contains("command"), "{after}");
}

#[test]
fn the_comments_of_other_tables_stay_where_they_are() {
    let before = "# Codex\n# model = 'gpt'\n[tui]\nnotifications = true\n# theme = 'dark'\n";
    let scene = Scene::with(before.as_bytes());
    let file = scene.file();
    install(Client::Codex, &file).unwrap();
    assert!(scene.text().starts_with(before), "{}", scene.text());
    let edited =
        scene.text().replace("\n[mcp_servers", "# more\n\n# [old]\n# x = 1\n\n[mcp_servers");
    fs::write(&file, edited + "\n# the end\n").unwrap();
    uninstall(Client::Codex, &file).unwrap();
    assert_eq!(scene.text(), format!("{before}# more\n\n# [old]\n# x = 1\n\n# the end\n"));
}

#[test]
fn line_ends_that_differ_and_keys_in_parts_stay() {
    let parts = "mcp_servers.a.command = \"x\"\nmodel = \"o\"\nmcp_servers.b.command = \"y\"\n";
    for before in
        ["a=1\r\nb=2\n[mcp_servers.x]\r\ncommand=\"q\"\r\n", parts, "['mcp_servers'.\"a b\"]\n"]
    {
        let scene = Scene::with(before.as_bytes());
        install(Client::Codex, &scene.file()).unwrap();
        assert!(scene.text().starts_with(before), "{:?}", scene.text());
        uninstall(Client::Codex, &scene.file()).unwrap();
        assert_eq!(scene.text(), before);
    }
}

#[test]
fn a_header_within_a_text_of_the_file_stays() {
    let text = "notes = \"\"\"\n[mcp_servers.agent-memory]\ncommand = 'x'\n\"\"\"\n";
    let entry = "\n[mcp_servers.agent-memory]\ncommand = \"old\"\n";
    for before in [text.to_owned(), format!("{text}{entry}")] {
        let scene = Scene::with(before.as_bytes());
        install(Client::Codex, &scene.file()).unwrap();
        let after = scene.text();
        assert!(after.starts_with(text), "{after}");
        assert!(after[text.len()..].contains("/opt/agent memory/bin/agent-memory"), "{after}");
        uninstall(Client::Codex, &scene.file()).unwrap();
        assert!(scene.text().starts_with(text), "{}", scene.text());
    }
}

#[test]
fn names_that_stand_twice_are_refused() {
    for text in [
        "{\"mcpServers\":{\"a\":{}},\"mcpServers\":{\"b\":{}}}",
        "{\"mcpServers\":{\"agent-memory\":{\"command\":\"1\"},\"agent-memory\":{\"command\":\"2\"}}}",
        "{\"mcp\\u0053ervers\":{},\"mcpServers\":{}}",
    ] {
        let scene = Scene::with(text.as_bytes());
        let error = install(Client::Cursor, &scene.file()).unwrap_err().to_string();
        assert!(error.contains("twice"), "{text}: {error}");
        assert_eq!(scene.text(), text);
    }
}

#[test]
fn what_is_left_from_before_is_no_state_before_our_entry() {
    let scene = Scene::with(b"{\"k\": 1}\n");
    let (file, backup) =
        (scene.file(), scene.directory.path().join("settings.agent-memory-backup"));
    install(Client::Cursor, &file).unwrap();
    fs::copy(&file, &backup).unwrap();
    uninstall(Client::Cursor, &file).unwrap();
    assert!(!scene.text().contains(NAME), "{}", scene.text());

    // The file is gone, but its backup is not.
    fs::write(&backup, "{\"mcpServers\": {\"old\": {}}}").unwrap();
    fs::remove_file(&file).unwrap();
    install(Client::Cursor, &file).unwrap();
    uninstall(Client::Cursor, &file).unwrap();
    assert_eq!(scene.names(), [""; 0]);
}

#[test]
fn a_project_gets_no_copy_of_its_file() {
    let scene = Scene::with(b"{\n  \"mcpServers\": { \"a\": {} }\n}\n");
    let plan = Plan::install(&scene.file(), Client::Cursor, &server()).unwrap().without_backup();
    plan.carry_out().unwrap();
    assert_eq!(scene.names(), ["settings"]);
    uninstall(Client::Cursor, &scene.file()).unwrap();
    assert_eq!(scene.names(), ["settings"]);
    assert!(!scene.text().contains(NAME));
}

#[test]
fn a_file_of_a_project_is_not_removed() {
    for (client, before, after) in [
        (Client::Cursor, "{}\n", "{}\n"),
        (Client::Gemini, "{}\n", "{}\n"),
        (Client::Cursor, "", "{}\n"),
        (Client::Codex, "", ""),
    ] {
        let scene = Scene::with(before.as_bytes());
        let install = Plan::install(&scene.file(), client, &server()).unwrap().without_backup();
        install.carry_out().unwrap();
        assert!(scene.text().contains(NAME), "{before:?}");
        let uninstall = Plan::uninstall(&scene.file(), client).unwrap().without_backup();
        uninstall.carry_out().unwrap();
        assert_eq!(scene.text(), after, "{before:?}");
        assert_eq!(scene.names(), ["settings"]);
    }
}

#[cfg(unix)]
#[test]
fn links_and_devices_are_no_files_to_write() {
    use std::os::unix::fs::symlink;

    let scene = Scene::with(b"{\"k\": 1}\n");
    let other = scene.directory.path().join("other");
    fs::write(&other, "precious").unwrap();
    symlink("other", scene.directory.path().join("settings.agent-memory-backup")).unwrap();
    install(Client::Cursor, &scene.file()).unwrap();
    assert_eq!(fs::read_to_string(&other).unwrap(), "precious");

    let dangling = scene.directory.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    let error = install(Client::Cursor, &dangling).unwrap_err().to_string();
    assert!(error.contains("leads nowhere"), "{error}");
    for path in ["/dev/null", "/"] {
        let error = install(Client::Cursor, Path::new(path)).unwrap_err().to_string();
        assert!(error.contains("it is no file"), "{error}");
    }
}

#[test]
fn of_two_at_once_the_one_that_says_so_has_won() {
    let scene = Scene::with(b"{}\n");
    let file = scene.file();
    let with = |argument: &str| Server::Command {
        program: "/agent-memory".to_owned(),
        arguments: vec![argument.to_owned()],
    };
    let one = Plan::install(&file, Client::Cursor, &with("one")).unwrap();
    let two = Plan::install(&file, Client::Cursor, &with("two")).unwrap();
    two.carry_out().unwrap();
    assert!(one.carry_out().is_err());
    assert!(scene.text().contains("two") && !scene.text().contains("one"));
    uninstall(Client::Cursor, &file).unwrap();
    assert_eq!(scene.text(), "{}\n");
}

#[test]
fn an_entry_by_hand_that_is_taken_out_has_a_copy() {
    for (client, before) in BY_HAND {
        let scene = Scene::with(before.as_bytes());
        uninstall(client, &scene.file()).unwrap();
        assert!(!scene.text().contains("precious"), "{before:?}");
        let backup = scene.directory.path().join("settings.agent-memory-backup");
        assert_eq!(fs::read_to_string(backup).unwrap(), before);
    }
}

#[test]
fn our_entry_in_a_file_with_carriage_returns_is_changed() {
    let scene = Scene::with(b"model = 'x'\r\n");
    let file = scene.file();
    install(Client::Codex, &file).unwrap();
    fs::write(&file, scene.text() + "[tui]\r\na = 1\r\n").unwrap();
    let url = Server::Url { url: "http://127.0.0.1:1/mcp".to_owned(), token_variable: None };
    Plan::install(&file, Client::Codex, &url).unwrap().carry_out().unwrap();
    let text = scene.text();
    assert!(text.contains("127.0.0.1") && text.contains("[tui]"), "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
    let by_hand = "[mcp_servers.agent-memory]\r\ncommand = '/old'\r\nenv = 'precious'\r\n";
    fs::write(&file, by_hand).unwrap();
    install(Client::Codex, &file).unwrap();
    let text = scene.text();
    assert!(text.contains("precious") && !text.contains("/old"), "{text}");
    assert_eq!(text.matches('\n').count(), text.matches("\r\n").count(), "{text:?}");
}

#[test]
fn the_loser_of_two_leaves_the_copy_of_the_winner() {
    let scene = Scene::with(b"{ \"k\": 1 }\n");
    let file = scene.file();
    let loser = Plan::install(
        &file,
        Client::Cursor,
        &Server::Url { url: "http://x/mcp".into(), token_variable: None },
    )
    .unwrap();
    install(Client::Cursor, &file).unwrap();
    assert!(loser.carry_out().is_err());
    uninstall(Client::Cursor, &file).unwrap();
    assert_eq!(scene.text(), "{ \"k\": 1 }\n");
}
