//! Finds the existing name that is nearest to a name that does not exist.

use crate::words::likeness_key;

/// Only this many letters of a name are compared.
const MAX_LETTERS: usize = 64;

/// The name that `wanted` most likely stands for: it differs only in case, marks or punctuation, or by
/// typing errors. `None` if `wanted` is one of the names, or none is near.
///
/// A typing error is a wrong, missing or extra letter, or two exchanged letters. A name of three to
/// five letters may have one of these errors, a longer name two, a shorter name none. Names with
/// different digits are never near: `worker-12` is not `worker-13`. Among equally near names, the first
/// in byte order is returned.
pub(crate) fn nearest<'n>(wanted: &str, names: &'n [String]) -> Option<&'n str> {
    if names.iter().any(|name| name == wanted) {
        return None;
    }
    let key = letters(wanted);
    let most = match key.len() {
        0..=2 => 0,
        3..=5 => 1,
        _ => 2,
    };
    let near = names.iter().filter_map(|name| {
        let other = letters(name);
        let is_near = digits(&key).eq(digits(&other)) && key.len().abs_diff(other.len()) <= most;
        let distance = is_near.then(|| distance(&key, &other))?;
        (distance <= most).then_some((distance, name.as_str()))
    });
    near.min().map(|(_, name)| name)
}

fn letters(name: &str) -> Vec<char> {
    likeness_key(name).chars().take(MAX_LETTERS).collect()
}

fn digits(key: &[char]) -> impl Iterator<Item = &char> {
    key.iter().filter(|letter| letter.is_numeric())
}

/// The number of typing errors between two names: wrong, missing, extra or exchanged letters ([optimal
/// string alignment](https://en.wikipedia.org/wiki/Damerau%E2%80%93Levenshtein_distance)).
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (i, letter) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, against) in other.iter().enumerate() {
            let replaced = last[j] + usize::from(letter != against);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *letter == other[j - 1] && one[i - 1] == *against {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_differs_in_what_people_vary_or_by_a_typing_error() {
        let names = ["alice", "bob", "Release-Manager", "worker-12", "ai", "bab"];
        let names = names.map(str::to_owned);
        for (wanted, name) in [
            ("Bob", Some("bob")),
            ("ALICE", Some("alice")),
            ("release_manager", Some("Release-Manager")),
            ("Réleasemanager", Some("Release-Manager")),
            ("relaese-manger", Some("Release-Manager")),
            ("alcie", Some("alice")),
            ("alices", Some("alice")),
            ("bob ", Some("bob")),
            ("boob", Some("bob")),
            // Equally near: the first in byte order.
            ("bb", None),
            ("bub", Some("bab")),
            ("worker12", Some("worker-12")),
            ("worker-13", None),
            ("worker-1", None),
            ("io", None),
            ("AI", Some("ai")),
            ("carol", None),
            ("bob", None),
        ] {
            assert_eq!(nearest(wanted, &names), name, "{wanted}");
        }
        assert_eq!(nearest("bob", &[]), None);
    }
}
