//! Namespaces: lists of labels.

use super::error::Error;
use crate::sql::text;
use crate::storage::database::Value;

/// The maximum numbers of labels of a namespace, and of characters of a label.
pub(super) const MAX_LABELS: usize = 20;
pub(super) const MAX_LABEL: usize = 200;

/// The maximum number of characters of a key.
pub(super) const MAX_KEY: usize = 1_000;

/// The first label that LangGraph reserves.
const RESERVED_ROOT: &str = "langgraph";

/// Matches any one label in a pattern.
const ANY: &str = "*";

/// Returns the stored form of a namespace: its labels as JSON. Sorted by bytes, the namespaces
/// below another one are next to each other.
pub(super) fn stored(labels: &[String]) -> String {
    serde_json::to_string(labels).expect("labels are JSON")
}

/// Parses a stored namespace into its labels. `None` if it is not a JSON list of texts: another
/// program wrote it.
pub(super) fn labels(stored: &str) -> Option<Vec<String>> {
    serde_json::from_str(stored).ok()
}

/// Checks the namespace of a new item by the rules of LangGraph that the schema of the input does
/// not express.
///
/// # Errors
///
/// `INVALID_INPUT` for a label with a period, or for the first label `langgraph`.
pub(super) fn check(labels: &[String]) -> Result<(), Error> {
    if let Some(label) = labels.iter().find(|label| label.contains('.')) {
        return Err(Error::period_in_label(label));
    }
    match labels.first() {
        Some(root) if root == RESERVED_ROOT => Err(Error::reserved_root()),
        _ => Ok(()),
    }
}

/// Checks a key.
///
/// # Errors
///
/// `INVALID_INPUT` for a null character, which not every database stores.
pub(super) fn check_key(key: &str) -> Result<(), Error> {
    if key.contains('\0') { Err(Error::null_in_key()) } else { Ok(()) }
}

/// Whether the labels begin with a pattern. In the pattern, `*` matches any one label.
pub(super) fn has_prefix(labels: &[String], pattern: &[String]) -> bool {
    labels.len() >= pattern.len() && matches(labels, pattern)
}

/// Whether the labels end with a pattern. In the pattern, `*` matches any one label.
pub(super) fn has_suffix(labels: &[String], pattern: &[String]) -> bool {
    let skipped = labels.len().checked_sub(pattern.len());
    skipped.is_some_and(|skipped| matches(&labels[skipped..], pattern))
}

fn matches(labels: &[String], pattern: &[String]) -> bool {
    labels.iter().zip(pattern).all(|(label, wanted)| wanted == ANY || label == wanted)
}

/// A set of namespaces as a condition on the column `namespace`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Below {
    Everything,
    /// The namespaces below any of these roots.
    Any(Vec<Root>),
}

/// Includes all namespaces below `labels`. Includes the namespace `labels` itself only if
/// `is_itself_in` is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Root {
    pub labels: Vec<String>,
    pub is_itself_in: bool,
}

impl Below {
    /// Returns the condition in SQL. Its values are appended to `parameters`.
    pub fn condition(&self, parameters: &mut Vec<Value>) -> String {
        let Self::Any(roots) = self else { return "TRUE".to_owned() };
        let mut conditions = Vec::new();
        for Root { labels, is_itself_in } in roots {
            let whole = stored(labels);
            let begin = whole.strip_suffix(']').unwrap_or(&whole);
            // `-` is the byte after `,`, so this range is all texts that begin with `begin` and a
            // comma.
            parameters.extend([text(&format!("{begin},")), text(&format!("{begin}-"))]);
            let at = parameters.len();
            let mut one = format!("namespace >= ?{} AND namespace < ?{at}", at - 1);
            if *is_itself_in {
                parameters.push(Value::Text(whole));
                one = format!("({one}) OR namespace = ?{}", at + 1);
            }
            conditions.push(format!("({one})"));
        }
        if conditions.is_empty() {
            "FALSE".to_owned()
        } else {
            format!("({})", conditions.join(" OR "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn a_star_stands_for_exactly_one_label() {
        let prefix = |text, pattern| has_prefix(&labels_of(text), &labels_of(pattern));
        let suffix = |text, pattern| has_suffix(&labels_of(text), &labels_of(pattern));
        assert!(prefix("a/b/c", "a/*") && prefix("a/b/c", "*/b") && prefix("a/b", "a/b"));
        assert!(!prefix("a", "a/*") && !prefix("ab/c", "a"));
        assert!(suffix("a/b/c", "*/c") && suffix("a/b/c", "c") && suffix("a/c", "*/c"));
        assert!(!suffix("c", "*/c") && !suffix("a/b/c", "b"));
        assert!(has_prefix(&labels_of("a"), &[]) && has_suffix(&labels_of("a"), &[]));
    }

    #[test]
    fn what_is_below_a_namespace_is_a_range_of_stored_namespaces() {
        let root = Root { labels: labels_of("a/b"), is_itself_in: true };
        let mut parameters = Vec::new();
        let condition = Below::Any(vec![root]).condition(&mut parameters);
        let expected = "(((namespace >= ?1 AND namespace < ?2) OR namespace = ?3))";
        assert_eq!(condition, expected);
        assert_eq!(parameters, [r#"["a","b","#, r#"["a","b"-"#, r#"["a","b"]"#].map(text));
        let is_in = |namespace: &str| {
            let stored = stored(&labels_of(namespace));
            (r#"["a","b","#..r#"["a","b"-"#).contains(&stored.as_str())
        };
        assert!(is_in("a/b/c") && is_in("a/b/é") && is_in("a/b/\u{0}"));
        assert!(!is_in("a/b") && !is_in("a/bc") && !is_in("a/b c") && !is_in("a/B/c"));
        assert!(!is_in("a/b\"/c") && !is_in("a"));
    }
}
