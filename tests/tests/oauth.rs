//! Access tokens of an authorization server: which tokens a server accepts, and how its clients learn
//! where to get one.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use agent_memory_tests::TIMEOUT;
use agent_memory_tests::http_server::{HttpServer, Reply};
use agent_memory_tests::issuer::{Issuer, Mode};
use agent_memory_tests::product::program;
use agent_memory_tests::runners::mcp_client::stateless;
use agent_memory_tests::signing::{self, SigningKey};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The audience of the tokens.
const AUDIENCE: &str = "https://memory.example.com/mcp";

/// A directory with the data of a server.
struct Scene {
    directory: TempDir,
}

impl Scene {
    fn new() -> Self {
        Scene { directory: tempfile::tempdir().expect("a directory") }
    }

    fn data(&self) -> String {
        format!("--data-dir={}", self.directory.path().join("data").display())
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(program("agent-memory"));
        command.args(arguments).arg(self.data());
        command.env_clear().env("HOME", self.directory.path()).output().expect("it runs")
    }

    /// Makes a token that is bound to a subject of the issuer, and returns the output.
    #[track_caller]
    fn bind(&self, name: &str, issuer: &Issuer, subject: &str, more: &[&str]) -> String {
        let bound = ["--issuer", issuer.url.as_str(), "--subject", subject];
        let output = self.run(&[&["token", "create", name], &bound[..], more].concat());
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("log")
    }

    fn start(&self, issuer: &Issuer, more: &[&str]) -> HttpServer {
        let own = [
            "--toolset=records,layers".to_owned(),
            self.data(),
            "--log-level=DEBUG".to_owned(),
            format!("--oauth-issuer={}", issuer.url),
            format!("--public-url={AUDIENCE}"),
        ];
        let options: Vec<String> =
            own.into_iter().chain(more.iter().map(|one| (*one).to_owned())).collect();
        let log = Stdio::from(fs::File::create(self.log()).expect("a file"));
        HttpServer::start_at("127.0.0.1:0", &options, self.directory.path(), log)
    }
}

fn seconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.expect("a time after 1970").as_secs()
}

fn claims(issuer: &Issuer, subject: &str) -> Value {
    json!({ "iss": issuer.url, "sub": subject, "aud": AUDIENCE, "exp": seconds() + 3_600 })
}

fn with(base: &Value, name: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[name] = value;
    changed
}

/// A token that is signed with an Ed25519 key.
fn token(key: &SigningKey, claims: &Value) -> String {
    key.token(&json!({ "alg": "EdDSA", "kid": key.id, "typ": "at+jwt" }), claims)
}

fn fields<'a>(method: &'a str, name: &'a str, bearer: &'a str) -> [(&'a str, &'a str); 4] {
    [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", method),
        ("Mcp-Name", name),
        ("Authorization", bearer),
    ]
}

fn call(server: &HttpServer, token: &str, tool: &str, arguments: Value) -> Reply {
    let bearer = format!("Bearer {token}");
    let body = stateless(1, "tools/call", json!({ "name": tool, "arguments": arguments }));
    server.request("POST", "/mcp", &fields("tools/call", tool, &bearer), &body.to_string())
}

fn list(server: &HttpServer, token: &str) -> Reply {
    let bearer = format!("Bearer {token}");
    let body = stateless(1, "tools/list", json!({})).to_string();
    let bearer = if token.is_empty() { "" } else { bearer.as_str() };
    server.request("POST", "/mcp", &fields("tools/list", "", bearer), &body)
}

/// Lists the tools until the status differs from `before`.
fn status_after(server: &HttpServer, token: &str, before: u16) -> u16 {
    let until = Instant::now() + TIMEOUT;
    loop {
        let reply = list(server, token);
        if reply.status != before {
            return reply.status;
        }
        assert!(Instant::now() < until, "it stays: {reply:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_subject_reaches_what_is_bound_to_it() {
    let scene = Scene::new();
    let key = SigningKey::new_ed25519("one");
    let issuer = Issuer::start(&[&key]);
    let said = scene.bind("ada", &issuer, "auth0|ada", &["--agents", "ada"]);
    assert!(!said.contains("amt_"), "{said}");
    scene.bind("bob", &issuer, "bob", &["--agents", "bob", "--read-only"]);
    let server = scene.start(&issuer, &[]);
    let ada = claims(&issuer, "auth0|ada");
    let bob = claims(&issuer, "bob");
    let ada = token(&key, &ada);
    let bob = token(&key, &bob);
    let memory = json!({ "content": "Kites are red.", "type": "core" });
    let kept = call(&server, &ada, "store_memory", memory.clone());
    assert_eq!((kept.status, &kept.json()["result"]["isError"]), (200, &json!(false)), "{kept:?}");
    let found = call(&server, &ada, "search_memory", json!({ "query": "kites" }));
    assert!(found.body.contains("Kites are red."), "{found:?}");
    let found = call(&server, &bob, "search_memory", json!({ "query": "kites" }));
    assert!(found.status == 200 && !found.body.contains("Kites"), "{found:?}");
    // This token does not reach tools that write.
    assert!(call(&server, &bob, "store_memory", memory).json()["error"].is_object());
    assert!(!list(&server, &bob).body.contains("store_memory"));

    // A token of the program itself still works.
    let made = scene.run(&["token", "create", "ci"]);
    let own = String::from_utf8(made.stdout).expect("UTF-8");
    assert_eq!(list(&server, own.trim()).status, 200);

    let listed = scene.run(&["token", "list"]);
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains(&format!("`auth0|ada` of `{}`", issuer.url)), "{listed}");
    let taken = scene.run(&["token", "create", "x", "--issuer", &issuer.url, "--subject", "bob"]);
    assert_eq!(taken.status.code(), Some(2), "{taken:?}");
    let log = fs::read_to_string(scene.log()).expect("a log");
    assert!(log.contains("token=\"ada\"") && log.contains("store_memory"), "{log}");
    for secret in [&ada, &bob] {
        let parts: Vec<&str> = secret.split('.').collect();
        assert!(!log.contains(parts[1]) && !log.contains(parts[2]), "{log}");
    }
    // The issuer is asked for its keys, and learns of no token and no memory.
    for request in issuer.requests() {
        assert!(request.starts_with("GET /"), "{request}");
        assert!(!request.to_lowercase().contains("authorization:"), "{request}");
    }
}

#[test]
fn nobody_gets_in_by_an_access_token_that_does_not_hold() {
    let scene = Scene::new();
    let key = SigningKey::new_ed25519("one");
    let rsa = SigningKey::rsa("rsa");
    let other = SigningKey::new_ed25519("one");
    let issuer = Issuer::start(&[&key, &rsa]);
    scene.bind("ada", &issuer, "ada", &[]);
    // A token that is bound to another issuer.
    let foreign = ["--issuer", "https://other.example.com", "--subject", "eve"];
    assert!(scene.run(&[&["token", "create", "eve"], &foreign[..]].concat()).status.success());
    let server = scene.start(&issuer, &[]);
    let good = claims(&issuer, "ada");
    assert_eq!(list(&server, &token(&key, &good)).status, 200);
    let now = seconds();
    let hs256 = json!({ "alg": "HS256", "kid": "rsa", "typ": "at+jwt" });
    let none = json!({ "alg": "none", "kid": "one", "typ": "at+jwt" });
    let signed = |name: &str, value: Value| token(&key, &with(&good, name, value));
    let whole = token(&key, &good);
    let cut = &whole[..whole.rfind('.').expect("a signature")];
    for (name, given, status) in [
        ("nothing", String::new(), 401),
        ("expired", signed("exp", json!(now - 120)), 401),
        ("not valid yet", signed("nbf", json!(now + 3_600)), 401),
        ("another audience", signed("aud", json!("https://memory.example.com/")), 401),
        ("no audience", signed("aud", Value::Null), 401),
        ("another issuer", signed("iss", json!("https://other.example.com")), 401),
        ("a key of somebody else", token(&other, &good), 401),
        ("an unknown key", token(&SigningKey::new_ed25519("two"), &good), 401),
        ("no algorithm", signing::unsigned(&none, &good), 401),
        ("no signature", format!("{cut}."), 401),
        ("no signature at all", cut.to_owned(), 401),
        ("the public key as a secret", rsa.token_by_hmac(&hs256, &good), 401),
        ("a changed end", format!("{whole}A"), 401),
        ("two tokens", format!("{whole} {whole}"), 401),
        ("no token", "a.b.c".to_owned(), 401),
        ("a long one", format!("{}.b.c", "a".repeat(20_000)), 401),
        ("another subject", signed("sub", json!("eve")), 403),
        ("a subject in capitals", signed("sub", json!("ADA")), 403),
        ("the name of the token", signed("sub", json!("ada ")), 403),
        ("no subject", signed("sub", json!("")), 401),
    ] {
        let reply = list(&server, &given);
        assert_eq!(reply.status, status, "{name}: {reply:?}");
        assert!(reply.json()["error"].is_string() && !reply.body.contains("tools"), "{name}");
        let challenge = reply.field("www-authenticate");
        let Some(challenge) = challenge else {
            assert_eq!(status, 403, "{name}: {reply:?}");
            continue;
        };
        let at = "resource_metadata=\"https://memory.example.com/.well-known/\
                  oauth-protected-resource/mcp\"";
        assert!(challenge.starts_with("Bearer ") && challenge.contains(at), "{name}: {challenge}");
        let is_invalid = challenge.contains("error=\"invalid_token\"");
        assert_eq!(is_invalid, !given.is_empty(), "{name}: {challenge}");
    }
    assert_eq!(server.request("GET", "/metrics", &[], "").status, 401);
    // Each of the three subjects without a token is logged once.
    let log = fs::read_to_string(scene.log()).expect("a log");
    assert_eq!(log.matches("not let in").count(), 3, "{log}");
}

#[test]
fn clients_are_told_whom_to_ask_for_a_token() {
    let scene = Scene::new();
    let issuer = Issuer::start(&[&SigningKey::new_ed25519("one")]);
    let server = scene.start(&issuer, &["--oauth-scope=memory"]);
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let reply = server.request("GET", &path, &[("Host", "memory.example.com")], "");
        assert_eq!(reply.status, 200, "{reply:?}");
        assert_eq!(reply.field("content-type"), Some("application/json"));
        let told = reply.json();
        assert_eq!(told["resource"], AUDIENCE);
        assert_eq!(told["authorization_servers"], json!([issuer.url]));
        assert_eq!(told["scopes_supported"], json!(["memory"]));
        assert_eq!(server.request("POST", &path, &[], "{}").status, 405);
    }
    for path in ["oauth-protected-resource/other", "oauth-authorization-server"] {
        let reply = server.request("GET", &format!("/.well-known/{path}"), &[], "");
        assert!(reply.status == 404 && reply.json()["error"].is_string(), "{reply:?}");
    }
    let challenge = list(&server, "");
    let challenge = challenge.field("www-authenticate").unwrap_or_default();
    assert!(challenge.contains("scope=\"memory\""), "{challenge}");
}

#[test]
fn a_token_without_the_scope_is_refused_with_its_name() {
    let scene = Scene::new();
    let key = SigningKey::new_p256("one");
    let issuer = Issuer::start(&[&key]);
    scene.bind("ada", &issuer, "ada", &[]);
    let server = scene.start(&issuer, &["--oauth-scope=memory", "--oauth-audience=urn:memory"]);
    let header = json!({ "alg": "ES256", "kid": "one" });
    let good = with(&claims(&issuer, "ada"), "aud", json!(["urn:other", "urn:memory"]));
    let of = |scope: &str| list(&server, &key.token(&header, &with(&good, "scope", json!(scope))));
    assert_eq!(of("openid memory").status, 200);
    let refused = of("openid memory:read");
    let challenge = refused.field("www-authenticate").unwrap_or_default();
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"memory\""), "{challenge}");
    // With this option, the server's URL is not an audience any more.
    let url = with(&with(&good, "scope", json!("memory")), "aud", json!(AUDIENCE));
    assert_eq!(list(&server, &key.token(&header, &url)).status, 401);
}

#[test]
fn a_new_key_of_the_issuer_is_fetched_once() {
    let scene = Scene::new();
    let old = SigningKey::new_ed25519("old");
    let issuer = Issuer::start(&[&old]);
    scene.bind("ada", &issuer, "ada", &[]);
    let server = scene.start(&issuer, &[]);
    let good = claims(&issuer, "ada");
    assert_eq!(list(&server, &token(&old, &good)).status, 200);
    assert_eq!(issuer.fetches(), 1);
    let new = SigningKey::new_ed25519("new");
    issuer.has_keys(&[&new]);
    assert_eq!(list(&server, &token(&new, &good)).status, 200);
    assert_eq!(issuer.fetches(), 2);
    // Unknown keys do not make the server fetch the keys again and again.
    for id in ["old", "new", "a", "b", "c"] {
        let key = SigningKey::new_ed25519(id);
        assert_eq!(list(&server, &token(&key, &good)).status, 401, "{id}");
    }
    assert_eq!(list(&server, &token(&new, &good)).status, 200);
    assert!(issuer.fetches() <= 3, "{}", issuer.fetches());
}

#[test]
fn an_issuer_that_fails_keeps_nobody_waiting_and_lets_nobody_in() {
    let scene = Scene::new();
    let key = SigningKey::new_ed25519("one");
    let issuer = Issuer::start(&[&key]);
    scene.bind("ada", &issuer, "ada", &[]);
    let good = token(&key, &claims(&issuer, "ada"));
    let trap = Issuer::start(&[&key]);
    for mode in
        [Mode::Silent, Mode::Elsewhere(trap.url.clone()), Mode::Endless, Mode::Misnamed, Mode::Down]
    {
        issuer.set(mode.clone());
        let server = scene.start(&issuer, &[]);
        let own = scene.run(&["token", "create", "own"]);
        let reply = list(&server, &good);
        assert_eq!(reply.status, 503, "{mode:?}: {reply:?}");
        assert!(reply.field("retry-after").is_some(), "{mode:?}: {reply:?}");
        // Holders of other tokens are served.
        let own = String::from_utf8(own.stdout).expect("UTF-8");
        assert_eq!(list(&server, own.trim()).status, 200, "{mode:?}");
        assert!(scene.run(&["token", "revoke", "own"]).status.success());
        assert_eq!(server.request("GET", "/readyz", &[], "").status, 200, "{mode:?}");
        // The issuer works again, and then fails again: the server knows its keys now.
        issuer.set(Mode::Up);
        assert_eq!(status_after(&server, &good, 503), 200, "{mode:?}");
        issuer.set(mode.clone());
        assert_eq!(list(&server, &good).status, 200, "{mode:?}");
        let unknown = token(&SigningKey::new_ed25519("two"), &claims(&issuer, "ada"));
        let status = list(&server, &unknown).status;
        assert!(matches!(status, 401 | 503), "{mode:?}: {status}");
        server.end().expect("it ends");
        let log = fs::read_to_string(scene.log()).expect("a log");
        assert!(log.contains("keys of the issuer cannot be fetched"), "{mode:?}: {log}");
    }
    assert!(trap.requests().is_empty(), "{:?}", trap.requests());
}

#[test]
fn a_subject_that_is_revoked_or_whose_token_expires_hears_of_no_change() {
    let scene = Scene::new();
    let key = SigningKey::new_ed25519("one");
    let issuer = Issuer::start(&[&key]);
    for name in ["ada", "bob", "all"] {
        scene.bind(name, &issuer, name, &[]);
    }
    let server = scene.start(&issuer, &[]);
    let [ada, all] = ["ada", "all"].map(|subject| token(&key, &claims(&issuer, subject)));
    // A token is accepted for a minute after `exp`. This one has about 10 s left.
    let ends = with(&claims(&issuer, "bob"), "exp", json!(seconds() - 50));
    let bob = token(&key, &ends);
    let store = || {
        let memory = json!({ "agent_id": "ada", "content": "Kites are red.", "type": "core" });
        assert_eq!(call(&server, &all, "store_memory", memory).status, 200);
    };
    store();
    let mut streams = [&ada, &bob].map(|token| listen(&server, token, "memory://ada/stats"));
    for stream in &mut streams {
        begins(stream);
    }
    let [mut of_ada, mut of_bob] = streams;
    assert!(hears(&mut of_ada, &store));
    assert!(scene.run(&["token", "revoke", "ada"]).status.success());
    assert_eq!(list(&server, &ada).status, 403);
    assert!(!hears(&mut of_ada, &store));
    // Until the token has expired, its stream may report changes.
    while hears(&mut of_bob, &store) {}
    assert_eq!(list(&server, &bob).status, 401);
}

#[test]
fn a_stream_ends_with_its_access_token_while_nothing_changes() {
    let scene = Scene::new();
    let key = SigningKey::new_ed25519("one");
    let issuer = Issuer::start(&[&key]);
    for name in ["ada", "bob"] {
        scene.bind(name, &issuer, name, &[]);
    }
    let server = scene.start(&issuer, &[]);
    // A token is accepted for a minute after `exp`. This one has about 10 s left.
    let ends = with(&claims(&issuer, "bob"), "exp", json!(seconds() - 50));
    let tokens = [token(&key, &claims(&issuer, "ada")), token(&key, &ends)];
    let mut streams = tokens.map(|token| listen(&server, &token, "memory://ada/stats"));
    for stream in &mut streams {
        begins(stream);
    }
    assert!(scene.run(&["token", "revoke", "ada"]).status.success());
    for stream in &mut streams {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).expect("an end");
        assert!(!rest.contains("resources/updated"), "{rest}");
    }
}

fn listen(server: &HttpServer, token: &str, uri: &str) -> BufReader<TcpStream> {
    let method = "subscriptions/listen";
    let listen = json!({ "notifications": { "resourceSubscriptions": [uri] } });
    let bearer = format!("Bearer {token}");
    let body = stateless(1, method, listen).to_string();
    let request = server.bytes("POST", "/mcp", &fields(method, "", &bearer), &body);
    BufReader::new(server.connect(&request).expect("a connection"))
}

#[track_caller]
fn begins(stream: &mut BufReader<TcpStream>) {
    let mut line = String::new();
    while !line.contains("acknowledged") {
        line.clear();
        assert!(stream.read_line(&mut line).expect("an answer") > 0, "it ends");
    }
}

/// Changes something until the stream reports it. False if the stream ends before.
fn hears(stream: &mut BufReader<TcpStream>, change: &dyn Fn()) -> bool {
    let pause = Some(Duration::from_millis(200));
    stream.get_ref().set_read_timeout(pause).expect("a timeout");
    let until = Instant::now() + TIMEOUT;
    let mut line = String::new();
    while Instant::now() < until {
        change();
        loop {
            match stream.read_line(&mut line) {
                Ok(0) => return false,
                Ok(_) if line.contains("resources/updated") => return true,
                Ok(_) => line.clear(),
                Err(_) => break,
            }
        }
    }
    panic!("nothing is told, and the stream does not end");
}

#[test]
fn an_issuer_is_given_with_what_belongs_to_it() {
    let scene = Scene::new();
    let local = "--http=127.0.0.1:0";
    for (arguments, says) in [
        (&["--oauth-issuer=https://login.example.com"][..], "--http"),
        (&[local, "--oauth-audience=x"], "--oauth-issuer"),
        (&[local, "--public-url=https://a.example/mcp"], "--oauth-issuer"),
        (&[local, "--oauth-issuer=http://login.example.com"], "https"),
        (&[local, "--oauth-issuer=https://a.example", "--public-url=http://b.example"], "https"),
        (&[local, "--oauth-issuer=https://a.example", "--oauth-scope=a b"], "scope"),
        (&["--http=0.0.0.0:0", "--oauth-issuer=https://a.example"], "--public-url"),
    ] {
        let output = scene.run(&[&["serve"], arguments].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(says) && output.stdout.is_empty(), "{arguments:?}: {said}");
    }
    for arguments in [
        &["--subject", "x"][..],
        &["--issuer", "https://a.example"],
        &["--issuer", "http://a.example", "--subject", "x"],
        &["--issuer", "https://a.example", "--subject", ""],
    ] {
        let output = scene.run(&[&["token", "create", "x"], arguments].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {output:?}");
    }
}
