//! Servers with tenants: what is on their disk, tokens that cannot be served, subscriptions, numbers,
//! the log, and a pooler between them and the database.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, SystemTime};

use agent_memory_host::database::DatabaseOptions;
use agent_memory_tests::http_server::{HttpServer, Reply};
use agent_memory_tests::issuer::Issuer;
use agent_memory_tests::postgres::{Pooler, url_at};
use agent_memory_tests::runners::mcp_client::stateless;
use agent_memory_tests::signing::SigningKey;
use agent_memory_tests::tenant_scene::Scene;
use serde_json::{Value, json};

const PAUSE: Duration = Duration::from_millis(20);

/// A text that the token without a tenant keeps on the disk of the server.
const SECRET: &str = "kumquat7a";

fn call(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> Reply {
    let parameters = json!({ "name": tool, "arguments": arguments });
    server.stateless_as(token, "tools/call", parameters)
}

#[track_caller]
fn done(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> String {
    let reply = call(server, token, tool, arguments);
    let result = &reply.json()["result"];
    assert!(reply.status == 200 && result["isError"] != true, "{tool}: {}", reply.body);
    reply.body
}

#[test]
fn a_tenant_reaches_nothing_on_the_disk_of_the_server() {
    let Some(scene) = Scene::new(&["acme"]) else { return };
    let home = scene.path().canonicalize().unwrap();
    let repository = home.join("work");
    fs::create_dir_all(repository.join(".git")).unwrap();
    fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    let root = repository.to_str().unwrap();
    let option = |name: &str, path: &str| format!("--{name}={}", home.join(path).display());
    let server = scene.serve(&[
        "--toolset=all",
        &scene.database_option(),
        &option("allow", "work"),
        &option("layers-db", "layers.db"),
        &option("items-db", "items.db"),
        &option("files-dir", "files"),
        &option("memory-dir", "records"),
    ]);
    let owner = scene.token_of(None);
    let content = format!("the key is {SECRET}");
    let session = json!({ "agent_name": "ada", "repo_root": root });
    let seeds = [
        ("records_add_core_memory", json!({ "agent_id": "ada", "content": content })),
        ("layers_add_core_memory", json!({ "agent_id": "ada", "memory": content })),
        ("put_item", json!({ "namespace": ["ada"], "key": "k", "value": { "text": content } })),
        ("create_memory_file", json!({ "path": "/memories/plan.txt", "file_text": content })),
        ("start_session", session.clone()),
        (
            "append_entry",
            json!({ "agent_name": "ada", "repo_root": root, "section": "Decisions", "content": content }),
        ),
    ];
    for (tool, arguments) in &seeds {
        done(&server, &owner, tool, arguments.clone());
    }
    let attempts = [
        ("recall_context", json!({ "agent_id": "ada" })),
        ("query_memories", json!({ "agent_id": "ada" })),
        ("get_core_memories", json!({ "agent_id": "ada" })),
        ("get_memory_summary", json!({ "agent_id": "ada" })),
        ("get_item", json!({ "namespace": ["ada"], "key": "k" })),
        ("view_memory_file", json!({ "path": "/memories/plan.txt" })),
        ("search_items", json!({ "namespace_prefix": [] })),
        ("list_namespaces", json!({})),
        ("view_memory_file", json!({ "path": "/memories" })),
        ("list_sessions", session.clone()),
        ("list_sessions", json!({ "agent_name": "ada" })),
        ("read_session", session.clone()),
        ("read_summary", session.clone()),
        ("search_memory", json!({ "query": "key" })),
        ("search_memory", json!({ "agent": "ada" })),
        ("resume_memory", json!({ "agent": "ada" })),
        ("resume_memory", json!({ "repo_root": root })),
        ("forget_memory", json!({ "text": SECRET, "dry_run": true })),
        ("delete_memory_file", json!({ "path": "/memories/plan.txt" })),
        ("delete_item", json!({ "namespace": ["ada"], "key": "k" })),
    ];
    let tenant = scene.token_of(Some("acme"));
    for (tool, arguments) in seeds.iter().chain(&attempts) {
        let reply = call(&server, &tenant, tool, arguments.clone());
        let has_asked = arguments.to_string().contains(SECRET);
        assert_eq!(reply.status, 200, "{tool}: {}", reply.body);
        assert!(has_asked || !reply.body.contains(SECRET), "{tool} {arguments}: {}", reply.body);
        assert!(!reply.body.contains("plan.txt") || tool.contains("file"), "{}", reply.body);
    }
    for (tool, arguments) in seeds[..4].iter().chain(&attempts[..8]) {
        let reply = call(&server, &tenant, tool, arguments.clone());
        assert!(reply.body.contains("no such place for this tenant"), "{tool}: {}", reply.body);
    }
    for uri in ["layers://ada/summary", "memory://ada/recent"] {
        let reply = server.stateless_as(&tenant, "resources/read", json!({ "uri": uri }));
        assert!(!reply.body.contains(SECRET), "{uri}: {}", reply.body);
    }
    // Nothing was changed, and a token that names the repository reaches it.
    for (tool, arguments) in &attempts[..6] {
        assert!(done(&server, &owner, tool, arguments.clone()).contains(SECRET), "{tool}");
    }
    let named = ["--tenant", "acme", "--repositories", root];
    let with_repository = scene.create_token("with-repository", &named);
    assert!(done(&server, &with_repository, "read_session", session).contains(SECRET));
    let reply = call(&server, &with_repository, "recall_context", attempts[0].1.clone());
    assert!(!reply.body.contains(SECRET), "{}", reply.body);
}

#[test]
fn a_token_whose_tenant_cannot_be_served_is_told_why() {
    let Some(scene) = Scene::new(&[]) else { return };
    let token = scene.token_of(Some("acme"));
    let listed = |server: &HttpServer| server.stateless_as(&token, "tools/list", json!({}));
    let server = scene.serve(&["--toolset=records"]);
    let reply = listed(&server);
    assert!(reply.status == 403 && reply.body.contains("database_url"), "{}", reply.body);
    drop(server);
    let server = scene.serve(&["--toolset=records", &scene.database_option()]);
    let reply = listed(&server);
    assert_eq!(reply.status, 403, "{}", reply.body);
    assert!(reply.body.contains("agent-memory database tenant create acme"), "{}", reply.body);
    let option = scene.database_option();
    let tenant = |arguments: &[&str]| {
        let output = scene.run(&[&["database", "tenant"], arguments, &[&option]].concat());
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    assert!(tenant(&["list"]).1.contains("there is no tenant"));
    assert_eq!(tenant(&["create", "acme"]), (Some(0), "the tenant `acme` was made\n".to_owned()));
    let taken = tenant(&["create", "Acme"]);
    assert!(taken.0 == Some(2) && taken.1.contains("already"), "{taken:?}");
    assert_eq!(tenant(&["create", "a b"]).0, Some(2));
    assert_eq!(tenant(&["list"]).1, "1 acme\n");
    // The running server knows the new tenant at once.
    assert_eq!(listed(&server).status, 200);
    let shown = String::from_utf8(scene.run(&["token", "list"]).stdout).unwrap();
    assert!(shown.contains("acme: of the tenant acme, everything"), "{shown}");
}

#[test]
fn the_numbers_are_not_for_tenants_and_the_log_tells_whose_call_it_was() {
    let Some(scene) = Scene::new(&["acme"]) else { return };
    let [tenant, owner] = [Some("acme"), None].map(|tenant| scene.token_of(tenant));
    let log = scene.path().join("log");
    let options = [
        "--toolset=records".to_owned(),
        format!("--database-url={}", scene.database.administrator_url_text()),
        format!("--data-dir={}", scene.data_dir().display()),
    ];
    let file = Stdio::from(File::create(&log).unwrap());
    let server = HttpServer::start_at("127.0.0.1:0", &options, scene.path(), file);
    done(&server, &tenant, "add_core_memory", json!({ "agent_id": "ada", "content": "x" }));
    let numbers = |token: &str| {
        let bearer = format!("Bearer {token}");
        server.request("GET", "/metrics", &[("Authorization", &bearer)], "")
    };
    assert_eq!((numbers(&tenant).status, numbers(&owner).status), (403, 200));
    server.end().unwrap();
    let log = fs::read_to_string(log).unwrap();
    assert!(log.contains("row-level security does not hold"), "{log}");
    assert!(log.contains("tenant=\"acme\""), "{log}");
    let url = format!("--database-url={}", scene.database.administrator_url_text());
    let checked = scene.run(&["database", "check", &url]);
    let note = String::from_utf8(checked.stderr).unwrap();
    assert!(checked.status.success() && note.contains("row-level security"), "{note}");
    let checked = scene.run(&["database", "check", &scene.database_option()]);
    assert!(checked.status.success() && checked.stderr.is_empty(), "{checked:?}");
}

#[test]
fn a_subscription_tells_of_changes_of_its_own_tenant() {
    let Some(scene) = Scene::new(&["acme", "globex"]) else { return };
    let [acme, globex] = ["acme", "globex"].map(|tenant| scene.token_of(Some(tenant)));
    let server = scene.serve(&["--toolset=records", &scene.database_option()]);
    let add = |token: &str, agent: &str| {
        let arguments = json!({ "agent_id": agent, "content": "x y z" });
        done(&server, token, "add_recent_task", arguments)
    };
    // Both agents get a memory first. An agent without memories is told which other agents have some.
    ["ada", "bob"].iter().for_each(|agent| drop(add(&acme, agent)));
    let uris = ["memory://ada/recent", "memory://bob/recent"];
    let listen = json!({ "notifications": { "resourceSubscriptions": uris } });
    let bearer = format!("Bearer {acme}");
    let fields = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "subscriptions/listen"),
        ("Authorization", bearer.as_str()),
    ];
    let body = stateless(1, "subscriptions/listen", listen).to_string();
    let request = server.bytes("POST", "/mcp", &fields, &body);
    let mut stream = BufReader::new(server.connect(&request).expect("a connection"));
    let mut next = |wanted: &str| {
        let mut line = String::new();
        while !line.contains(wanted) {
            line.clear();
            assert!(stream.read_line(&mut line).expect("an answer") > 0, "it ends");
        }
        line
    };
    next("acknowledged");
    add(&globex, "ada");
    let heard = thread::scope(|scope| {
        let heard = scope.spawn(|| next("resources/updated"));
        // The first change may come before the server listens.
        while !heard.is_finished() {
            add(&acme, "bob");
            thread::sleep(PAUSE);
        }
        heard.join().unwrap()
    });
    assert!(heard.contains(uris[1]), "{heard}");
}

#[test]
fn a_user_of_an_authorization_server_reaches_the_tenant_of_the_bound_token() {
    let Some(scene) = Scene::new(&["acme", "globex"]) else { return };
    let key = SigningKey::new_ed25519("key");
    let issuer = Issuer::start(&[&key]);
    let audience = "https://memory.example.com/mcp";
    let access_token = |subject: &str| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let header = json!({ "alg": "EdDSA", "kid": key.id, "typ": "at+jwt" });
        let claims =
            json!({ "iss": issuer.url, "sub": subject, "aud": audience, "exp": now + 3_600 });
        key.token(&header, &claims)
    };
    for tenant in ["acme", "globex"] {
        let bound = ["--issuer", &issuer.url, "--subject", tenant, "--tenant", tenant];
        scene.create_token(tenant, &bound);
    }
    let server = scene.serve(&[
        "--toolset=records",
        &scene.database_option(),
        &format!("--oauth-issuer={}", issuer.url),
        &format!("--public-url={audience}"),
    ]);
    let recalled = |subject: &str| {
        done(&server, &access_token(subject), "recall_context", json!({ "agent_id": "ada" }))
    };
    let memory = json!({ "agent_id": "ada", "content": SECRET });
    done(&server, &access_token("acme"), "add_core_memory", memory);
    assert!(recalled("acme").contains(SECRET));
    assert!(!recalled("globex").contains(SECRET));
}

#[test]
fn tenants_stay_apart_on_the_connections_of_a_pooler() {
    let names = ["acme", "globex", "initech"];
    let Some(scene) = Scene::new(&names) else { return };
    let Some(pooler) = Pooler::start(&scene.database, 2) else { return };
    let url = url_at(pooler.socket_directory());
    DatabaseOptions::new(url.parse().unwrap()).check().unwrap();
    let url = format!("--database-url={url}");
    let server = scene.serve(&["--toolset=records", &url, "--database-pool=2"]);
    let tokens = names.map(|name| (name, scene.token_of(Some(name))));
    // More clients than connections, so that each connection serves all tenants in turn.
    thread::scope(|scope| {
        for (name, token) in &tokens {
            for client in 0..2 {
                let server = &server;
                scope.spawn(move || {
                    for number in 0..10 {
                        let content = format!("{name} has {client}.{number}");
                        let memory = json!({ "agent_id": "ada", "content": content });
                        done(server, token, "add_core_memory", memory);
                        let limit = json!({ "agent_id": "ada", "limit": 100 });
                        let read = done(server, token, "recall_context", limit);
                        assert!(read.contains(&content), "{read}");
                        let others = names.iter().filter(|other| *other != name);
                        others.for_each(|other| assert!(!read.contains(other), "{read}"));
                    }
                });
            }
        }
    });
    for (_, token) in &tokens {
        let stats = done(&server, token, "get_memory_stats", json!({ "agent_id": "ada" }));
        assert!(stats.contains("\"total_memories\":20"), "{stats}");
    }
}
