//! The environment variable with a client's token. Each client gets its name in its own form, and no
//! file has the token.

mod scene;

use std::fs;

use agent_memory_client_config::{Client, Error, Plan, Server, is_variable_name};
use scene::Scene;

const URL: &str = "http://127.0.0.1:8080/mcp";

/// The clients that can read a token from a variable, each with the text that names the variable.
const READERS: [(Client, &str); 7] = [
    (Client::ClaudeCode, "\"Authorization\": \"Bearer ${MEMORY}\""),
    (Client::Gemini, "\"Authorization\": \"Bearer ${MEMORY}\""),
    (Client::Cursor, "\"Authorization\": \"Bearer ${env:MEMORY}\""),
    (Client::VsCode, "\"Authorization\": \"Bearer ${env:MEMORY}\""),
    (Client::Windsurf, "\"Authorization\": \"Bearer ${env:MEMORY}\""),
    (Client::Opencode, "\"Authorization\": \"Bearer {env:MEMORY}\""),
    (Client::Codex, "bearer_token_env_var = \"MEMORY\""),
];

fn server(variable: Option<&str>) -> Server {
    Server::Url { url: URL.to_owned(), token_variable: variable.map(str::to_owned) }
}

fn program() -> Server {
    Server::Command { program: "/opt/agent-memory".to_owned(), arguments: vec!["serve".to_owned()] }
}

fn install(scene: &Scene, client: Client, server: &Server) -> Result<Plan, Error> {
    let plan = Plan::install(&scene.file(), client, server)?;
    plan.carry_out()?;
    Ok(plan)
}

#[test]
fn each_client_gets_the_variable_in_its_own_form_and_out_again_gives_back_the_bytes() {
    for (client, form) in READERS {
        let before =
            if client == Client::Codex { "model = \"o3\"\n" } else { "{\n  \"a\": 1\n}\n" };
        let scene = Scene::with(before.as_bytes());
        install(&scene, client, &server(Some("MEMORY"))).expect("a client that reads it");
        let after = scene.text();
        assert!(after.contains(form) && after.contains(URL), "{client:?}: {after}");
        assert!(install(&scene, client, &server(Some("MEMORY"))).unwrap().changes_nothing());
        Plan::uninstall(&scene.file(), client).unwrap().carry_out().unwrap();
        assert_eq!(scene.text(), before, "{client:?}");
        assert_eq!(scene.names(), ["settings"], "{client:?}");
    }
}

#[test]
fn the_variable_stays_at_another_address_and_goes_with_a_program() {
    for (client, form) in READERS {
        let scene = Scene::new();
        install(&scene, client, &server(Some("MEMORY"))).unwrap();
        let url = "http://127.0.0.1:9090/mcp".to_owned();
        install(&scene, client, &Server::Url { url, token_variable: None }).unwrap();
        let after = scene.text();
        assert!(after.contains(form) && after.contains("9090"), "{client:?}: {after}");
        install(&scene, client, &server(Some("OTHER"))).unwrap();
        let after = scene.text();
        assert!(after.contains("OTHER") && !after.contains("MEMORY"), "{client:?}: {after}");
        install(&scene, client, &program()).unwrap();
        let after = scene.text();
        assert!(!after.contains("OTHER") && after.contains("serve"), "{client:?}: {after}");
    }
}

#[test]
fn headers_that_somebody_wrote_stay_and_are_not_replaced() {
    for headers in [
        r#"{"X-Team": "a"}"#,
        r#"{"Authorization": "Bearer ${MEMORY}", "X-Team": "a"}"#,
        r#"{"Authorization": "Bearer precious"}"#,
    ] {
        let entry = format!(
            r#"{{"mcpServers": {{"agent-memory": {{"url": "x", "headers": {headers}}}}}}}"#
        );
        let scene = Scene::with(entry.as_bytes());
        let refused = install(&scene, Client::Cursor, &server(Some("MEMORY")));
        let error = refused.expect_err("headers of somebody else").to_string();
        assert!(error.contains("has `headers` of its own"), "{error}");
        assert_eq!(scene.text(), entry);
        install(&scene, Client::Cursor, &server(None)).unwrap();
        assert!(scene.text().contains(headers) && scene.text().contains(URL), "{}", scene.text());
    }
}

#[test]
fn codex_gets_no_token_beside_a_header_that_somebody_wrote() {
    for headers in [
        "http_headers = { \"Authorization\" = \"Bearer precious\" }",
        "env_http_headers = { \"authorization\" = \"MINE\" }",
    ] {
        let entry = format!("[mcp_servers.agent-memory]\nurl = \"x\"\n{headers}\n");
        let scene = Scene::with(entry.as_bytes());
        let refused = install(&scene, Client::Codex, &server(Some("MEMORY")));
        let error = refused.expect_err("a header of somebody else").to_string();
        assert!(error.contains("http_headers` of its own"), "{error}");
        assert_eq!(scene.text(), entry);
    }
}

#[test]
fn clients_that_read_no_variable_are_refused_with_what_to_do() {
    for client in [Client::Zed, Client::Other] {
        let scene = Scene::new();
        let refused = install(&scene, client, &server(Some("MEMORY")));
        let error = refused.expect_err("no variable").to_string();
        assert!(error.contains("leave `--token-variable` out, and add"), "{error}");
        assert!(fs::metadata(scene.file()).is_err());
    }
}

#[test]
fn the_name_of_a_variable_has_letters_digits_and_underscores() {
    for name in ["AGENT_MEMORY_TOKEN", "_x", "a1"] {
        assert!(is_variable_name(name), "{name}");
    }
    for wrong in ["", "1a", "a-b", "a b", "${A}", "A=1", "ä"] {
        assert!(!is_variable_name(wrong), "{wrong}");
    }
}
