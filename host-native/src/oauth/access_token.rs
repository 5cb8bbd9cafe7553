//! An access token as a JWT (RFC 7519, RFC 9068): its parts, and the check of its claims.

use super::jwk::{Algorithm, Key, decoded};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::slice;

/// The maximum size of a token in bytes. A longer token is refused.
const MAX_BYTES: usize = 16 << 10;

/// The maximum size of a subject in bytes, as OpenID Connect limits it.
pub(crate) const MAX_SUBJECT: usize = 255;

/// How far the clocks of the two servers may be apart, in seconds.
const LEEWAY: f64 = 60.0;

/// A token whose signature and claims are not checked yet.
pub(super) struct AccessToken<'a> {
    pub header: Header,
    /// The signed part of the token: the header and the payload as Base64.
    message: &'a [u8],
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The header of a token.
#[derive(Deserialize)]
pub(super) struct Header {
    pub alg: Algorithm,
    pub kid: Option<String>,
    typ: Option<String>,
    crit: Option<IgnoredAny>,
}

/// The values that the claims of a token must have.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    pub issuer: String,
    pub audience: String,
    pub scopes: Vec<String>,
}

/// The subject of a valid token, and the end of its validity.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// The claim `sub`, by which the issuer identifies the holder.
    pub subject: String,
    /// When the token expires, plus [`LEEWAY`] for clocks that differ.
    pub until: Timestamp,
}

/// Why a token is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Violation {
    Invalid(&'static str),
    /// The token lacks a required scope.
    Scope,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    aud: OneOrMore,
    exp: f64,
    nbf: Option<f64>,
    /// RFC 9068 requires one text with spaces between the scopes. Some servers write an array.
    scope: Option<OneOrMore>,
    cnf: Option<IgnoredAny>,
    // These claims are in ID tokens only.
    nonce: Option<IgnoredAny>,
    at_hash: Option<IgnoredAny>,
    c_hash: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl<'a> AccessToken<'a> {
    /// Reads a token that is signed by an [`Algorithm`].
    pub fn read(text: &'a str) -> Result<Self, Violation> {
        const FORM: Violation = Violation::Invalid("it is no signed JWT that this server can read");
        let short = Some(text).filter(|text| text.len() <= MAX_BYTES).ok_or(FORM)?;
        let (message, signature) = short.rsplit_once('.').ok_or(FORM)?;
        // If the payload has a further `.`, it is not Base64 and is refused below.
        let (header, payload) = message.split_once('.').ok_or(FORM)?;
        let header = decoded(header).ok_or(FORM)?;
        let payload = decoded(payload).ok_or(FORM)?;
        let header: Header = serde_json::from_slice(&header).map_err(|_| FORM)?;
        let signature = decoded(signature).ok_or(FORM)?;
        if header.crit.is_some() {
            return Err(Violation::Invalid(
                "it has a critical header that this server does not know",
            ));
        }
        if !header.typ.as_deref().is_none_or(is_access_token) {
            return Err(Violation::Invalid("its type is not that of an access token"));
        }
        Ok(AccessToken { header, message: message.as_bytes(), payload, signature })
    }

    /// Checks that one of the keys has signed the token, and then the claims.
    pub fn check(
        &self,
        keys: &[Key],
        expected: &Expected,
        now: Timestamp,
    ) -> Result<Accepted, Violation> {
        let is_by = |key: &Key| key.has_signed(self.header.alg, self.message, &self.signature);
        if !keys.iter().any(is_by) {
            return Err(Violation::Invalid("its signature is wrong"));
        }
        let claims: Claims = serde_json::from_slice(&self.payload)
            .map_err(|_| Violation::Invalid("`iss`, `sub`, `aud` or `exp` is missing or wrong"))?;
        // A token without a type or with the type `JWT` may be an ID token.
        if self.header.typ.as_deref().is_none_or(is_any_jwt) && claims.are_of_id_token() {
            return Err(Violation::Invalid(
                "it is an ID token: it has `nonce`, `at_hash` or `c_hash`, and not the type `at+jwt`",
            ));
        }
        claims.check(expected, now)
    }
}

/// Whether a token of this type may be an access token. RFC 9068 requires `at+jwt`. Many servers write
/// `JWT`.
fn is_access_token(kind: &str) -> bool {
    let accepted = ["at+jwt", "application/at+jwt"];
    is_any_jwt(kind) || accepted.iter().any(|accepted| kind.eq_ignore_ascii_case(accepted))
}

/// Whether the type is just `JWT`, so that the token may also be an ID token.
fn is_any_jwt(kind: &str) -> bool {
    kind.eq_ignore_ascii_case("jwt")
}

impl Claims {
    /// Whether the claims contain one that only ID tokens have.
    fn are_of_id_token(&self) -> bool {
        [&self.nonce, &self.at_hash, &self.c_hash].into_iter().any(Option::is_some)
    }

    fn check(self, expected: &Expected, now: Timestamp) -> Result<Accepted, Violation> {
        let invalid = |reason| Err(Violation::Invalid(reason));
        if self.iss != expected.issuer {
            return invalid("it is of another issuer");
        }
        if !self.aud.texts().contains(&expected.audience) {
            return invalid("it is for another audience");
        }
        let seconds = now.as_second() as f64;
        if seconds >= self.exp + LEEWAY {
            return invalid("it has expired");
        }
        if self.nbf.is_some_and(|begin| seconds < begin - LEEWAY) {
            return invalid("it does not hold yet");
        }
        if self.cnf.is_some() {
            return invalid("it is bound to a key, which this server does not ask for");
        }
        if self.sub.is_empty() || self.sub.len() > MAX_SUBJECT {
            return invalid("its subject has no or more than 255 bytes");
        }
        let given = self.scope.as_ref().map(OneOrMore::texts).unwrap_or_default();
        let has =
            |scope: &String| given.iter().any(|given| given.split(' ').any(|one| one == scope));
        if !expected.scopes.iter().all(has) {
            return Err(Violation::Scope);
        }
        let until = Timestamp::from_second((self.exp + LEEWAY) as i64).unwrap_or(Timestamp::MAX);
        Ok(Accepted { subject: self.sub, until })
    }
}

impl OneOrMore {
    fn texts(&self) -> &[String] {
        match self {
            OneOrMore::One(one) => slice::from_ref(one),
            OneOrMore::More(all) => all,
        }
    }
}
