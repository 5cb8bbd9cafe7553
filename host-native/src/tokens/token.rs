use crate::Reach;
use agent_memory_storage::hexadecimal;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// The beginning of every token, by which programs that look for secrets find it.
pub(crate) const PREFIX: &str = "amt_";

/// The last use of a token is recorded at most once in this time.
const RECORDED_EVERY: Duration = Duration::from_secs(60);

const ID_BYTES: usize = 4;
const SECRET_BYTES: usize = 32;

/// A token to be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewToken {
    /// The token's name, for people.
    pub name: String,
    /// The name of the token's tenant in the database of the server. `None`: the tenant 0, to which
    /// everything without a named tenant belongs.
    pub tenant: Option<String>,
    /// What the token reaches. If the token has a tenant, `None` in `reach.repositories` means no
    /// repositories instead of all.
    pub reach: Reach,
    /// When the token expires. `None`: never.
    pub expires: Option<Timestamp>,
}

/// A holder of access tokens of an authorization server.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// The claim `iss` of the access tokens.
    pub issuer: String,
    /// The claim `sub` of the access tokens.
    pub id: String,
}

/// A token, without its secret. A token that is bound to a [`Subject`] has no secret.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// The token's id, which is a part of the text that its user sends.
    pub id: String,
    /// The token's name, for people.
    pub name: String,
    /// The SHA-256 of the token's secret. `None` for a token that is bound to a subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// The subject to which the token is bound: access tokens of this subject reach what the token
    /// reaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Subject>,
    /// The name of the token's tenant. `None`: the tenant 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// When the token was made.
    pub created: Timestamp,
    /// When the token expires. `None`: never.
    #[serde(deserialize_with = "Option::deserialize")]
    pub expires: Option<Timestamp>,
    /// When the token was last used. Updated once a minute at most; `None` if it was never used.
    #[serde(deserialize_with = "Option::deserialize")]
    pub last_used: Option<Timestamp>,
    // A missing field is an error: it must not be read as `null`, which means all.
    #[serde(deserialize_with = "Option::deserialize")]
    agents: Option<Vec<String>>,
    #[serde(deserialize_with = "Option::deserialize")]
    stores: Option<Vec<String>>,
    #[serde(deserialize_with = "Option::deserialize")]
    repositories: Option<Vec<PathBuf>>,
    read_only: bool,
}

impl Token {
    pub(super) fn new(new: NewToken, secret: &Secret, now: Timestamp) -> Self {
        let sha256 = Some(secret.sha256());
        Token { sha256, ..Token::without_secret(new, secret.id.clone(), now) }
    }

    /// A token that is bound to a subject. The token gets its id from `number`.
    pub(super) fn bound(new: NewToken, subject: Subject, number: &Secret, now: Timestamp) -> Self {
        let subject = Some(subject);
        Token { subject, ..Token::without_secret(new, number.id.clone(), now) }
    }

    fn without_secret(new: NewToken, id: String, now: Timestamp) -> Self {
        let NewToken { name, tenant, reach, expires } = new;
        let Reach { agents, stores, repositories, read_only } = reach;
        Token {
            id,
            name,
            sha256: None,
            subject: None,
            tenant,
            created: now,
            expires,
            last_used: None,
            agents,
            stores,
            repositories,
            read_only,
        }
    }

    /// The agents, stores and repositories that the token reaches. Repositories are not divided by
    /// tenants, so a token of a tenant reaches only the repositories that it names.
    pub fn reach(&self) -> Reach {
        let none = self.tenant.as_ref().map(|_| Vec::new());
        Reach {
            agents: self.agents.clone(),
            stores: self.stores.clone(),
            repositories: self.repositories.clone().or(none),
            read_only: self.read_only,
        }
    }

    /// Whether the token has expired, so that requests with it are refused.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }

    /// Whether the token has this secret. Compares the secret in constant time.
    pub(super) fn is(&self, secret: &Secret) -> bool {
        let Some(sha256) = &self.sha256 else { return false };
        let same = secret.sha256().as_bytes().ct_eq(sha256.as_bytes());
        self.id == secret.id && bool::from(same)
    }

    /// Whether the token is bound to this subject.
    pub(super) fn is_of(&self, issuer: &str, id: &str) -> bool {
        self.subject.as_ref().is_some_and(|subject| subject.issuer == issuer && subject.id == id)
    }
}

/// Whether a use of a token now is to be recorded. `recorded` is the time of the last recorded use:
/// uses are recorded at most once a minute.
pub(crate) fn is_use_due(recorded: Option<Timestamp>, now: Timestamp) -> bool {
    recorded.is_none_or(|recorded| now.duration_since(recorded).unsigned_abs() >= RECORDED_EVERY)
}

/// The secret text that a client sends: the id of a token, and random bytes.
pub(super) struct Secret {
    id: String,
    text: String,
}

impl Secret {
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; ID_BYTES + SECRET_BYTES];
        getrandom::fill(&mut bytes)?;
        let (id, secret) = bytes.split_at(ID_BYTES);
        Ok(Secret { id: hexadecimal(id), text: hexadecimal(secret) })
    }

    pub(super) fn read(given: &str) -> Option<Self> {
        let (id, text) = given.strip_prefix(PREFIX)?.split_once('_')?;
        let is_whole = id.len() == 2 * ID_BYTES && text.len() == 2 * SECRET_BYTES;
        is_whole.then(|| Secret { id: id.to_owned(), text: text.to_owned() })
    }

    pub(super) fn shown(&self) -> String {
        format!("{PREFIX}{}_{}", self.id, self.text)
    }

    fn sha256(&self) -> String {
        hexadecimal(Sha256::digest(self.text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_a_tenant_reaches_only_the_repositories_that_it_names() {
        let secret = Secret::new().expect("random numbers");
        let reached = |tenant: Option<&str>, named: Option<Vec<PathBuf>>| {
            let reach = Reach { repositories: named, ..Reach::default() };
            let tenant = tenant.map(str::to_owned);
            let new = NewToken { tenant, reach, ..NewToken::default() };
            Token::new(new, &secret, Timestamp::MIN).reach().repositories
        };
        let named = || Some(vec![PathBuf::from("/work")]);
        assert_eq!(reached(None, None), None);
        assert_eq!(reached(Some("acme"), None), Some(Vec::new()));
        assert_eq!(reached(Some("acme"), named()), named());
    }

    #[test]
    fn a_token_is_known_by_what_was_shown_and_by_nothing_else() {
        let secret = Secret::new().unwrap();
        let token = Token::new(NewToken::default(), &secret, Timestamp::UNIX_EPOCH);
        let shown = secret.shown();
        assert!(token.is(&Secret::read(&shown).unwrap()));
        assert!(!serde_json::to_string(&token).unwrap().contains(&secret.text));
        let last = if shown.ends_with('0') { "1" } else { "0" };
        let other = format!("{}{last}", &shown[..shown.len() - 1]);
        assert!(!token.is(&Secret::read(&other).unwrap()));
        for bad in ["", "amt_", "amt_1_2", &shown[1..], &format!("{shown}0")] {
            assert!(Secret::read(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_token_ends_at_its_moment() {
        let secret = Secret::new().unwrap();
        let expires = Some(Timestamp::UNIX_EPOCH);
        let token =
            Token::new(NewToken { expires, ..NewToken::default() }, &secret, Timestamp::MIN);
        assert!(!token.has_expired(Timestamp::from_second(-1).unwrap()));
        assert!(token.has_expired(Timestamp::UNIX_EPOCH));
    }
}
