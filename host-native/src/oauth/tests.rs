use super::jwk::read_set;
use super::*;
use signing::SigningKey;

#[path = "../../../tests/src/signing.rs"]
#[allow(dead_code, reason = "the tests of the product use the rest")]
mod signing;

const NOW: i64 = 1_800_000_000;

fn now() -> Timestamp {
    Timestamp::from_second(NOW).expect("a time")
}

/// A server that trusts these keys.
fn server(keys: &[&SigningKey]) -> ResourceServer {
    let set = json!({ "keys": keys.iter().map(|key| key.jwk()).collect::<Vec<_>>() }).to_string();
    let expected = Expected {
        issuer: "https://login.example.com".to_owned(),
        audience: "https://memory.example.com/mcp".to_owned(),
        scopes: Vec::new(),
    };
    let keys = Keys::new(move || Ok(read_set(set.as_bytes()).expect("a set")));
    ResourceServer { url: url("https://memory.example.com/mcp"), expected, keys }
}

fn url(text: &str) -> PublicUrl {
    PublicUrl::from_str(text).expect(text)
}

fn claims() -> Value {
    json!({
        "iss": "https://login.example.com",
        "sub": "ada",
        "aud": "https://memory.example.com/mcp",
        "exp": NOW + 600,
    })
}

fn with(base: &Value, name: &str, value: Value) -> Value {
    let mut changed = base.clone();
    changed[name] = value;
    changed
}

fn without(base: &Value, name: &str) -> Value {
    let mut changed = base.clone();
    changed.as_object_mut().expect("an object").remove(name);
    changed
}

#[tokio::test]
async fn every_asymmetric_algorithm_is_accepted_and_only_with_its_key() {
    let keys = [
        SigningKey::new_p256("p256"),
        SigningKey::new_p384("p384"),
        SigningKey::new_ed25519("ed"),
        SigningKey::rsa("rsa"),
    ];
    let [p256, p384, ed, rsa] = &keys;
    let server = server(&[p256, p384, ed, rsa]);
    for (key, algorithm) in [
        (p256, "ES256"),
        (p384, "ES384"),
        (ed, "EdDSA"),
        (ed, "Ed25519"),
        (rsa, "RS256"),
        (rsa, "RS384"),
        (rsa, "RS512"),
        (rsa, "PS256"),
        (rsa, "PS384"),
        (rsa, "PS512"),
    ] {
        for header in [
            json!({ "alg": algorithm, "kid": key.id, "typ": "at+jwt" }),
            json!({ "alg": algorithm, "kid": key.id }),
        ] {
            let token = key.token(&header, &claims());
            let accepted = server.check(&token, now()).await;
            assert_eq!(accepted.map(|of| of.subject), Ok("ada".to_owned()), "{algorithm}");
        }
        // A token with the id of another key is refused.
        for other in keys.iter().filter(|other| other.id != key.id) {
            let header = json!({ "alg": algorithm, "kid": other.id });
            let refused = server.check(&key.token(&header, &claims()), now()).await;
            assert!(matches!(refused, Err(Error::Invalid(_))), "{algorithm} as {}", other.id);
        }
        // A token that names another algorithm for the same key is refused.
        let wrong = if algorithm == "RS256" { "PS256" } else { "RS256" };
        let header = json!({ "alg": algorithm, "kid": key.id });
        let signed = key.token(&header, &claims());
        let relabelled = key.token(&json!({ "alg": wrong, "kid": key.id }), &claims());
        let (message, _) = relabelled.rsplit_once('.').expect("a signature");
        let (_, signature) = signed.rsplit_once('.').expect("a signature");
        let refused = server.check(&format!("{message}.{signature}"), now()).await;
        assert!(matches!(refused, Err(Error::Invalid(_))), "{algorithm} as {wrong}");
    }
}

#[tokio::test]
async fn a_token_with_any_other_character_is_refused() {
    let key = SigningKey::new_ed25519("ed");
    let server = server(&[&key]);
    let token = key.token(&json!({ "alg": "EdDSA", "kid": "ed" }), &claims());
    assert!(server.check(&token, now()).await.is_ok());
    for at in 0..token.len() {
        for other in ["A", "B", "-", ".", "=", " ", ""] {
            let changed = format!("{}{other}{}", &token[..at], &token[at + 1..]);
            if changed != token {
                assert!(server.check(&changed, now()).await.is_err(), "{changed}");
            }
        }
    }
    for changed in [format!("{token}."), format!(".{token}"), format!("{token}A"), "..".to_owned()]
    {
        assert!(server.check(&changed, now()).await.is_err(), "{changed}");
    }
}

#[tokio::test]
async fn claims_that_are_not_as_expected_are_refused() {
    let key = SigningKey::new_ed25519("ed");
    let server = server(&[&key]);
    let header = json!({ "alg": "EdDSA", "kid": "ed" });
    let good = claims();
    let audience = good["aud"].clone();
    for accepted in [
        with(&good, "aud", json!(["https://other.example", audience])),
        with(&good, "exp", json!(NOW as f64 + 0.5)),
        // Clocks may differ by a minute.
        with(&good, "exp", json!(NOW - 59)),
        with(&good, "nbf", json!(NOW + 59)),
        with(&good, "nbf", json!(NOW)),
        with(&good, "scope", json!("")),
        with(&good, "sub", json!("x".repeat(255))),
    ] {
        let checked = server.check(&key.token(&header, &accepted), now()).await;
        assert!(checked.is_ok(), "{accepted}: {checked:?}");
    }
    for refused in [
        with(&good, "iss", json!("https://login.example.com/")),
        with(&good, "iss", json!(["https://login.example.com"])),
        with(&good, "aud", json!("https://memory.example.com")),
        with(&good, "aud", json!([])),
        with(&good, "aud", json!({ "https://memory.example.com/mcp": 1 })),
        with(&good, "exp", json!(NOW - 60)),
        with(&good, "exp", json!("never")),
        with(&good, "exp", Value::Null),
        with(&good, "nbf", json!(NOW + 61)),
        with(&good, "nbf", json!("soon")),
        with(&good, "cnf", json!({ "jkt": "x" })),
        with(&good, "sub", json!("")),
        with(&good, "sub", json!(7)),
        with(&good, "sub", json!("x".repeat(256))),
        without(&good, "iss"),
        without(&good, "aud"),
        without(&good, "exp"),
        without(&good, "sub"),
        json!([]),
    ] {
        let checked = server.check(&key.token(&header, &refused), now()).await;
        assert!(matches!(checked, Err(Error::Invalid(_))), "{refused}: {checked:?}");
    }
    // An ID token may have the same audience, and is told apart by its claims and its type.
    for claim in ["nonce", "at_hash", "c_hash"] {
        let claims = with(&good, claim, json!("x"));
        for (kind, is_accepted) in
            [(json!("at+jwt"), true), (json!("JWT"), false), (Value::Null, false)]
        {
            let checked =
                server.check(&key.token(&with(&header, "typ", kind.clone()), &claims), now()).await;
            assert_eq!(checked.is_ok(), is_accepted, "{claim}, {kind}: {checked:?}");
        }
    }
    for header in [
        json!({ "alg": "EdDSA", "kid": "ed", "typ": "dpop+jwt" }),
        json!({ "alg": "EdDSA", "kid": "ed", "crit": ["b64"], "b64": false }),
        json!({ "alg": "EdDSA", "kid": "none" }),
        json!({ "alg": "EdDSA" }),
        json!({ "alg": "ES256", "kid": "ed" }),
        json!({ "alg": "none", "kid": "ed" }),
        json!({ "alg": "HS256", "kid": "ed" }),
        json!({ "kid": "ed" }),
    ] {
        for token in [
            key.token(&header, &good),
            key.token_by_hmac(&header, &good),
            signing::unsigned(&header, &good),
        ] {
            let checked = server.check(&token, now()).await;
            assert!(matches!(checked, Err(Error::Invalid(_))), "{header}: {checked:?}");
        }
    }
    let long = with(&good, "more", json!("x".repeat(20_000)));
    assert!(server.check(&key.token(&header, &long), now()).await.is_err());
}

#[tokio::test]
async fn a_scope_that_is_asked_for_has_to_be_among_those_of_the_token() {
    let key = SigningKey::new_ed25519("ed");
    let mut server = server(&[&key]);
    server.expected.scopes = vec!["memory".to_owned(), "team:read".to_owned()];
    for (scope, result) in [
        (json!("memory team:read"), Ok(())),
        (json!("openid team:read memory"), Ok(())),
        (json!(["team:read", "memory"]), Ok(())),
        (json!("memory"), Err(Error::Scope)),
        (json!("memory team:reads"), Err(Error::Scope)),
        (json!(["memory"]), Err(Error::Scope)),
        (json!(""), Err(Error::Scope)),
        (Value::Null, Err(Error::Scope)),
    ] {
        let claims = with(&claims(), "scope", scope.clone());
        let token = key.token(&json!({ "alg": "EdDSA", "kid": "ed" }), &claims);
        assert_eq!(server.check(&token, now()).await.map(drop), result, "{scope}");
    }
    assert_eq!(server.metadata()["scopes_supported"], json!(["memory", "team:read"]));
    assert_eq!(
        server.challenge(Some(("insufficient_scope", "it lacks one"))),
        "Bearer error=\"insufficient_scope\", error_description=\"it lacks one\", \
         scope=\"memory team:read\", \
         resource_metadata=\"https://memory.example.com/.well-known/oauth-protected-resource/mcp\""
    );
}

#[test]
fn the_metadata_is_where_clients_look() {
    for (given, shown, paths) in [
        ("https://a.example/mcp", "https://a.example/mcp", &["", "/mcp"][..]),
        ("https://a.example:8443/x/mcp/", "https://a.example:8443/x/mcp", &["", "/x/mcp"]),
        ("https://a.example", "https://a.example", &[""]),
    ] {
        let server = ResourceServer { url: url(given), ..server(&[]) };
        assert_eq!(server.metadata()["resource"], shown);
        let paths: Vec<String> = paths.iter().map(|path| format!("{METADATA}{path}")).collect();
        assert_eq!(server.metadata_paths(), paths, "{given}");
    }
    for wrong in
        ["", "a.example", "http://a.example/mcp", "https://a/{x}", "https://a/*", "https://a/\"b"]
    {
        assert!(PublicUrl::from_str(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "a b", "\"", "\\", "é"] {
        assert!(Scope::from_str(wrong).is_err(), "{wrong}");
    }
}
