//! Hides URLs with a user, a password or parameters in messages.

use std::borrow::Cow;

/// The example in messages about the form of a URL. It has no secret.
const EXAMPLE: &str = "user:password@host";

/// The quotation marks around values in messages.
const QUOTES: [char; 3] = ['`', '\'', '"'];

/// Whether a value is the URL of a PostgreSQL database.
pub fn is_database_url(value: &str) -> bool {
    value.trim_start().split_once("://").is_some_and(|(scheme, _)| is_postgres(scheme))
}

fn is_postgres(scheme: &str) -> bool {
    ["postgresql", "postgres"].iter().any(|name| scheme.eq_ignore_ascii_case(name))
}

/// A message without the secrets in its URLs. A URL with a user, or the URL of a database with
/// parameters, is cut to its scheme: `postgresql://...`.
///
/// It may hide too much: a password may have a space or a quotation mark that should have been escaped.
pub fn hide_urls(message: &str) -> Cow<'_, str> {
    let mut shown = String::new();
    let mut rest = message;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let scheme = &before[before[..at].trim_end_matches(is_scheme).len()..at];
        let length = secret_length(after, is_postgres(scheme.trim_start_matches('-')));
        shown.push_str(before);
        if length > 0 {
            shown.push_str("...");
        }
        rest = &after[length..];
    }
    if shown.is_empty() {
        return Cow::Borrowed(message);
    }
    Cow::Owned(shown + rest)
}

/// The length of the text to hide after the `://` of a URL. 0 if the URL has no secret.
fn secret_length(after: &str, is_postgres: bool) -> usize {
    if after.starts_with(EXAMPLE) {
        return 0;
    }
    let is_end = |c: char| if is_postgres { matches!(c, '\n' | '\r') } else { c.is_whitespace() };
    let line = after.split(is_end).next().unwrap_or_default();
    let word = line.split(char::is_whitespace).next().unwrap_or_default();
    // The user and the password end with the last `@`.
    let user = word.rfind('@').or_else(|| line.rfind('@')).map_or(0, |at| at + 1);
    let end = line[user..].find(QUOTES).map_or(line.len(), |length| user + length);
    let has_parameters = is_postgres && line[user..end].contains('?');
    if user == 0 && !has_parameters {
        return 0;
    }
    match line[user..end].find(char::is_whitespace) {
        // Parameters may have spaces.
        Some(length) if !line[user..user + length].contains('?') => user + length,
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_shows_no_user_no_password_and_no_parameter_of_a_url() {
        for (message, shown) in [
            (
                "`--a` is `postgresql://memory:S3cret@h/db`, a URI",
                "`--a` is `postgresql://...`, a URI",
            ),
            ("POSTGRES://S3cret@h/db is no path", "POSTGRES://... is no path"),
            ("no 'https://S3cret:S3cret@h/a?b=S3cret' here", "no 'https://...' here"),
            ("'postgresql://m:S3 cr@et'S3cret@h/db'", "'postgresql://...'"),
            ("'postgresql://m:S3?cr/et#S3@h'", "'postgresql://...'"),
            ("`postgresql:///db?options=-c work_mem=S3cret`: no", "`postgresql://...`: no"),
            ("`postgresql://h/db?password=S3cret&user=S3cret`", "`postgresql://...`"),
            (
                "'postgresql://m:S3cret@h/db', use '-- postgresql://m:S3cret@h/db'",
                "'postgresql://...', use '-- postgresql://...'",
            ),
            ("a postgresql://m:S3cret@h\nb http://S3cret@h", "a postgresql://...\nb http://..."),
        ] {
            assert_eq!(hide_urls(message), shown);
        }
    }

    #[test]
    fn a_message_without_a_secret_stays_as_it_is() {
        for message in [
            "the file `a/b` is gone",
            "ask ada@example.com about https://example.com/?a=b",
            "postgresql://db.example.com:5432/memory does not answer",
            "the form `postgresql://user:password@host:5432/database`, with `%` escapes",
        ] {
            assert_eq!(hide_urls(message), message);
        }
    }

    #[test]
    fn the_url_of_a_database_is_known_by_its_scheme() {
        for url in ["postgresql:///db", " postgres://a@b/c", "PostgreSQL://a"] {
            assert!(is_database_url(url), "{url}");
        }
        for other in ["postgresql:/db", "https://a/postgresql://b", "/a/b", "mysql://a@b"] {
            assert!(!is_database_url(other), "{other}");
        }
    }
}
