//! Lists in messages: the first of some texts, and how many more there are.

/// At most `most` texts: `a, b and 3 more`.
pub(crate) fn first_of(texts: impl IntoIterator<Item = String>, most: usize) -> String {
    joined(texts, most, ", ", " and")
}

/// At most `most` clauses: `a; b; and 3 more`.
pub(crate) fn first_clauses(clauses: impl IntoIterator<Item = String>, most: usize) -> String {
    joined(clauses, most, "; ", "; and")
}

/// At most `most` names, each in backticks.
pub(crate) fn listed<N: AsRef<str>>(names: impl IntoIterator<Item = N>, most: usize) -> String {
    first_of(names.into_iter().map(|name| format!("`{}`", name.as_ref())), most)
}

fn joined(
    texts: impl IntoIterator<Item = String>,
    most: usize,
    separator: &str,
    and: &str,
) -> String {
    let mut texts = texts.into_iter();
    let first = texts.by_ref().take(most).collect::<Vec<_>>().join(separator);
    match texts.count() {
        0 => first,
        more => format!("{first}{and} {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_tells_how_many_it_leaves_out() {
        assert_eq!(listed(["a", "b"], 2), "`a`, `b`");
        assert_eq!(listed(["a", "b", "c", "d"], 2), "`a`, `b` and 2 more");
        let clauses = ["line 1: x", "line 2: y"].map(str::to_owned);
        assert_eq!(first_clauses(clauses.clone(), 1), "line 1: x; and 1 more");
        assert_eq!(first_clauses(clauses, 3), "line 1: x; line 2: y");
    }
}
