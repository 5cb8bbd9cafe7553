//! Tenants of one database: no request of a tenant reaches the memory of another one.
//!
//! Two walls keep them apart: the statements of the program, and row-level security of the database.
//! The same attempts are made with both, and with each of them alone.

use std::collections::BTreeMap;
use std::time::Duration;

use agent_memory_conformance::case::Request;
use agent_memory_host::database::{DatabaseOptions, RowSecurity};
use agent_memory_host::storage::{ErrorCode, Statement};
use agent_memory_host::{AgentMemory, Caller, Clock, Reach};
use agent_memory_storage_postgres::Server;
use agent_memory_tests::http_server::HttpServer;
use agent_memory_tests::postgres::database;
use agent_memory_tests::runners::component::send;
use agent_memory_tests::runners::postgres::collect;
use agent_memory_tests::tenant_scene::Scene;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

/// The attempts, as requests of the conformance suite. `{word}`, `{name}` and `{id}` stand for the
/// secrets of the attacked tenant. With the requests in `finds`, that tenant itself finds its memory.
/// `reads` are further attempts to read, and `changes` are attempts to change.
const ATTEMPTS: &str = include_str!("tenants/attempts.json");

const TOOLSETS: [&str; 3] = ["records", "stores", "files"];

/// The time of all calls.
const NOW: &str = "2026-01-20T10:00:00Z";

/// A tenant, and secrets that only it has.
#[derive(Clone)]
struct Tenant {
    /// `None` for the memory without a tenant.
    name: Option<&'static str>,
    number: i64,
    /// A word in the texts that it keeps.
    word: &'static str,
    /// The name of one of its agents, stores and files.
    secret_name: &'static str,
    /// The id of one of its memories.
    id: String,
}

fn tenants() -> [Tenant; 3] {
    let tenant = |name, number, word, secret_name| {
        let id = String::new();
        Tenant { name, number, word, secret_name, id }
    };
    [
        tenant(None, 0, "tamarin5e", "oleander6"),
        tenant(Some("acme"), 1, "kumquat7a", "larkspur8"),
        tenant(Some("globex"), 2, "papaya77c", "verbena9d"),
    ]
}

/// A tenant that does not exist, with secrets that no memory has.
fn nobody() -> Tenant {
    let id = "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f".to_owned();
    Tenant { name: None, number: 99, word: "mulberry1", secret_name: "hyacinth2", id }
}

impl Tenant {
    fn secrets(&self) -> [&str; 3] {
        [self.word, self.secret_name, &self.id]
    }

    /// A text with the secrets of this tenant in place of the placeholders.
    fn filled(&self, text: &str) -> String {
        let text = text.replace("{word}", self.word).replace("{name}", self.secret_name);
        text.replace("{id}", &self.id)
    }

    /// The attempts of a kind to reach the memory of this tenant.
    fn attempts(&self, kind: &str) -> Vec<Request> {
        let all: BTreeMap<String, Vec<Value>> = serde_json::from_str(ATTEMPTS).unwrap();
        let filled = all[kind].iter().map(|attempt| self.filled(&attempt.to_string()));
        filled.map(|attempt| serde_json::from_str(&attempt).expect(&attempt)).collect()
    }

    /// Stores the secrets of this tenant.
    fn seed(&mut self, client: &Client) {
        let tool = |tool: &str, arguments: Value| {
            let answer =
                client.ask(&Request::Call { call: tool.to_owned(), arguments: arguments.clone() });
            assert!(!answer.contains("isError\":true"), "{tool} {arguments}: {answer}");
            answer
        };
        let Tenant { word, secret_name, .. } = *self;
        let content = format!("the key is {word}");
        let added = tool("add_core_memory", json!({ "agent_id": "ada", "content": content }));
        self.id = uuid(&added);
        tool("add_core_memory", json!({ "agent_id": secret_name, "content": content }));
        for (store, path) in [
            ("team", "notes/plan".to_owned()),
            ("team", format!("notes/{secret_name}")),
            (secret_name, format!("notes/{secret_name}")),
        ] {
            tool("add_memory", json!({ "store": store, "path": path, "content": content }));
        }
        // Enough memories for an index.
        for number in 0..24 {
            let path = format!("fill/note-{number}");
            tool("add_memory", json!({ "store": "team", "path": path, "content": content }));
        }
        for name in ["plan", secret_name] {
            let path = format!("/memories/{name}.txt");
            tool("create_memory_file", json!({ "path": path, "file_text": content }));
        }
    }
}

/// The first UUID in a text.
#[track_caller]
fn uuid(text: &str) -> String {
    let is_uuid = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
    let mut parts = text.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
    parts.find(is_uuid).unwrap_or_else(|| panic!("no id: {text}")).to_owned()
}

/// The client that asks.
enum Client<'a> {
    /// The holder of a token.
    Http(&'a HttpServer, String),
    /// A program that embeds the library.
    Library(&'a Runtime, AgentMemory),
}

impl Client<'_> {
    /// The whole answer as text, also if it is an error.
    fn ask(&self, request: &Request) -> String {
        match self {
            Client::Library(runtime, memory) => {
                let reach = Reach { repositories: Some(Vec::new()), ..Reach::default() };
                let caller = Caller { reach, ..Caller::default() };
                match runtime.block_on(send(memory, request, caller)) {
                    Ok(outcome) => format!("{} {:?}", outcome.json(), outcome.follow_ups),
                    Err(error) => error.to_string(),
                }
            }
            Client::Http(server, token) => {
                let Some((method, parameters)) = message(request) else { return String::new() };
                let reply = server.stateless_as(token, method, parameters);
                assert_eq!(reply.status / 100, 2, "{request:?}: {}", reply.body);
                reply.body
            }
        }
    }
}

/// The message of MCP for a request, if it has one.
fn message(request: &Request) -> Option<(&'static str, Value)> {
    let request = serde_json::to_value(request).unwrap();
    let has = |name: &str| request.get(name).is_some();
    Some(if has("call") {
        ("tools/call", json!({ "name": request["call"], "arguments": request["arguments"] }))
    } else if has("read") {
        ("resources/read", json!({ "uri": request["read"] }))
    } else if has("prompt") {
        ("prompts/get", json!({ "name": request["prompt"], "arguments": request["arguments"] }))
    } else if has("complete") {
        let template = &request["complete"]["resource_template"];
        let parameters = json!({
            "ref": { "type": "ref/resource", "uri": template },
            "argument": { "name": request["argument"], "value": request["value"] },
            "context": { "arguments": request["others"] },
        });
        ("completion/complete", parameters)
    } else {
        return None;
    })
}

/// Each tenant tries in every way to reach the memory of the others. No answer has their secrets, and
/// their memory does not change.
#[track_caller]
fn attack(tenants: &[(Tenant, Client)], documents: &Server) {
    for (owner, client) in tenants {
        for request in owner.attempts("finds") {
            let answer = client.ask(&request);
            let is_found = owner.secrets().iter().any(|secret| answer.contains(secret));
            // A model does not have the tools for people.
            let has_tool = !answer.contains("there is no tool");
            assert!(is_found || !has_tool, "nothing is found: {request:?}: {answer}");
        }
    }
    for (owner, _) in tenants {
        let before = contents(documents, owner.number);
        assert!(before.len() > 6, "{:?}", before.keys());
        assert!(!before["the index of team"].is_empty(), "{:?} has no index", owner.name);
        for (other, client) in tenants.iter().filter(|(other, _)| other.number != owner.number) {
            for kind in ["finds", "reads", "changes"] {
                check(owner, client, kind);
            }
            let after = contents(documents, owner.number);
            assert!(before == after, "{:?} changed what {:?} has", other.name, owner.name);
        }
    }
}

/// Makes the attempts of a kind. An answer about the secrets of another tenant is the same as about
/// secrets that no tenant has.
#[track_caller]
fn check(owner: &Tenant, client: &Client, kind: &str) {
    let nobody = nobody();
    // An attempt to change may create something of the same name in the attacker's own memory.
    let [word, name, id] = owner.secrets();
    let hidden = if kind == "changes" { vec![word, id] } else { vec![word, name, id] };
    let attempts = owner.attempts(kind).into_iter().zip(nobody.attempts(kind));
    for (request, about_nobody) in attempts {
        let asked = serde_json::to_string(&request).unwrap();
        let answer = client.ask(&request);
        for secret in hidden.iter().filter(|secret| !asked.contains(**secret)) {
            assert!(!answer.contains(*secret), "{asked} tells `{secret}`: {answer}");
        }
        let names_something = owner.secrets().iter().any(|secret| asked.contains(secret));
        if kind != "changes" && names_something {
            let mut told = answer;
            for (secret, unknown) in owner.secrets().iter().zip(nobody.secrets()) {
                told = told.replace(secret, unknown);
            }
            assert_eq!(told, client.ask(&about_nobody), "{asked} tells that something is there");
        }
    }
}

/// All documents of a tenant, and the index of its store.
fn contents(server: &Server, number: i64) -> BTreeMap<String, Vec<u8>> {
    let server = server.for_tenant(number);
    let mut all = BTreeMap::new();
    for label in ["records", "files"] {
        let reader = server.tree(label, "").reader();
        collect(&reader, "", &format!("{label}/"), &mut all).unwrap();
    }
    for name in server.places("stores").unwrap() {
        let reader = server.tree("stores", &name).reader();
        collect(&reader, "", &format!("stores/{name}/"), &mut all).unwrap();
    }
    let sql = "SELECT segment, stem, parts FROM postings ORDER BY segment, stem";
    let sql = Statement { sql: sql.to_owned(), parameters: Vec::new() };
    let index = server.derived_database("stores", "team", "search.db").query(&sql, u32::MAX);
    let postings: Vec<String> =
        index.unwrap().rows.iter().map(|posting| format!("{posting:?}")).collect();
    all.insert("the index of team".to_owned(), postings.concat().into_bytes());
    all
}

fn scene() -> Option<Scene> {
    Scene::new(&tenants().map(|tenant| tenant.name).into_iter().flatten().collect::<Vec<_>>())
}

fn memory(scene: &Scene, options: DatabaseOptions) -> AgentMemory {
    let start = NOW.parse().unwrap();
    let clock = Clock::Fixed { start, step: Duration::ZERO };
    let builder = AgentMemory::builder().toolsets(TOOLSETS).clock(clock).database(options);
    let builder = builder.setting("records", "format", "json");
    builder.data_dir(scene.data_dir()).build().unwrap()
}

/// The tenants with their stored secrets, each with its memory as a client.
fn in_library<'a>(runtime: &'a Runtime, memory: &AgentMemory) -> Vec<(Tenant, Client<'a>)> {
    let with_memory = tenants().map(|mut tenant| {
        let own = match tenant.name {
            None => memory.clone(),
            Some(name) => runtime.block_on(memory.for_tenant(name)).unwrap(),
        };
        let client = Client::Library(runtime, own);
        tenant.seed(&client);
        (tenant, client)
    });
    Vec::from(with_memory)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

#[test]
fn no_token_reaches_what_another_tenant_has() {
    let Some(scene) = scene() else { return };
    let url = format!("--database-url={}", scene.database.url_text());
    let server =
        scene.serve(&["--toolset=records,stores,files", &url, &format!("--fixed-clock={NOW}")]);
    let with_tokens = tenants().map(|mut tenant| {
        let client = Client::Http(&server, scene.token_of(tenant.name));
        tenant.seed(&client);
        (tenant, client)
    });
    attack(&with_tokens, &database(&scene.database.url_text()));
}

#[test]
fn the_statements_alone_keep_tenants_apart() {
    let Some(scene) = scene() else { return };
    let url = scene.database.administrator_url_text();
    let options = DatabaseOptions::new(url.parse().unwrap());
    assert_eq!(options.row_security().unwrap(), RowSecurity::PassedByUser);
    let memory = memory(&scene, options);
    let runtime = runtime();
    attack(&in_library(&runtime, &memory), &database(&url));
    // Every tool is among the attempts.
    let all = ["finds", "reads", "changes"].iter().flat_map(|kind| nobody().attempts(kind));
    let called: Vec<String> = all
        .filter_map(|request| match request {
            Request::Call { call, .. } => Some(call),
            _ => None,
        })
        .collect();
    for tool in memory.tools() {
        assert!(called.contains(&tool.name), "no attempt calls `{}`", tool.name);
    }
    assert!(memory.prompts().is_empty(), "no attempt gets a prompt");
}

#[test]
fn row_level_security_alone_keeps_tenants_apart() {
    let Some(scene) = scene() else { return };
    let options = DatabaseOptions::new(scene.database.url());
    assert_eq!(options.row_security().unwrap(), RowSecurity::InForce);
    let runtime = runtime();
    let owners = in_library(&runtime, &memory(&scene, options.clone()));
    let documents = database(&scene.database.url_text());
    let without_wall = scene.database.administrator_url_text().parse().unwrap();
    let without_wall = DatabaseOptions::new(without_wall);
    for (owner, _) in &owners {
        let before = contents(&documents, owner.number);
        for (other, _) in owners.iter().filter(|(other, _)| other.number != owner.number) {
            let of_other = contents(&documents, other.number);
            // The program is mistaken, and asks for the rows of the owner.
            let mistaken = |options: &DatabaseOptions| {
                let options = options.clone().with_tenant(owner.number);
                let memory = memory(&scene, options.with_mistaken_tenant(other.number));
                Client::Library(&runtime, memory)
            };
            let read = Request::Read { read: "stores://team/notes/plan".to_owned() };
            assert!(mistaken(&without_wall).ask(&read).contains(owner.word));
            let client = mistaken(&options);
            for kind in ["finds", "reads", "changes"] {
                check(owner, &client, kind);
            }
            assert!(before == contents(&documents, owner.number), "{:?}", owner.name);
            assert!(of_other == contents(&documents, other.number), "{:?}", other.name);
        }
    }
}

#[test]
fn the_database_gives_no_row_to_a_statement_that_names_no_tenant_or_another_one() {
    let Some(scene) = scene() else { return };
    in_library(&runtime(), &memory(&scene, DatabaseOptions::new(scene.database.url())));
    let server = database(&scene.database.url_text());
    let as_acme = |sql: &str| {
        server.execute(&format!("BEGIN; SET LOCAL agent_memory.tenant = '1'; {sql}; COMMIT"))
    };
    let administrator = database(&scene.database.administrator_url_text());
    // Rows of indexes and of vectors, as searches and embedders make them.
    for number in [1, 2] {
        let of_tenant = |table: &str, columns: &str, values: &str| {
            format!(
                "INSERT INTO agent_memory.{table} (tenant, place, {columns}) \
                 VALUES ({number}, 'items', {values}); "
            )
        };
        let rows = [
            of_tenant("segments", "segment, collection, work, documents, gone", "1, '', 1, '', ''"),
            of_tenant("postings", "segment, stem, parts", "1, 1, ''"),
            of_tenant("index_version", "version", "1"),
            of_tenant("vector_collections", "name, model", "'', ''"),
            of_tenant("vector_documents", "collection, document, version, texts", "1, 1, 1, ''"),
            of_tenant("vectors", "collection, document, text", "1, 1, 1"),
            of_tenant("vector_version", "version", "1"),
        ];
        administrator.execute(&rows.concat()).unwrap();
    }
    let tables = ["documents", "places", "scopes", "calls"].into_iter().chain([
        "segments",
        "postings",
        "index_version",
        "vector_collections",
        "vector_documents",
        "vectors",
        "vector_version",
    ]);
    for table in tables {
        let rows = |condition: &str, is_there: bool| {
            format!(
                "DO $$ BEGIN ASSERT EXISTS (SELECT 1 FROM agent_memory.{table} WHERE {condition}) \
                 = {is_there}; END $$"
            )
        };
        administrator.execute(&rows("tenant = 2", true)).unwrap();
        as_acme(&rows("tenant = 1", true)).unwrap();
        as_acme(&rows("tenant <> 1", false)).unwrap();
        // Statements without a tenant, with the empty tenant that a transaction leaves, and of another
        // one.
        for _ in 0..2 {
            let message = server.execute(&rows("true", false)).unwrap_err().message;
            assert!(message.starts_with("the database refused"), "{message}");
            as_acme("SELECT 1").unwrap();
        }
        as_acme(&format!("DELETE FROM agent_memory.{table} WHERE tenant = 2")).unwrap();
        administrator.execute(&rows("tenant = 2", true)).unwrap();
        let stolen = format!("UPDATE agent_memory.{table} SET tenant = 2");
        assert_eq!(as_acme(&stolen).unwrap_err().code, ErrorCode::Permission, "{table}");
    }
}
