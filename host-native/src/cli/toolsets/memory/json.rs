//! Reads the JSON of clients. A client that cuts a text may leave one half of a surrogate pair.

use serde_json::Value;

/// Reads JSON. A lone half of a surrogate pair becomes a replacement character.
pub(super) fn parse(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_halves(text)))
}

fn without_lone_halves(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find('\\') {
        kept.push_str(&rest[..begin]);
        rest = &rest[begin..];
        let length = match half(rest) {
            None => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            Some(first)
                if first < 0xdc00 && half(&rest[6..]).is_some_and(|next| next >= 0xdc00) =>
            {
                12
            }
            Some(_) => {
                kept.push('\u{fffd}');
                rest = &rest[6..];
                continue;
            }
        };
        kept.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    kept + rest
}

/// The half of a surrogate pair with which a text begins, as in `\ud83d`.
fn half(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let half = u16::from_str_radix(digits, 16).ok()?;
    (0xd800..0xe000).contains(&half).then_some(half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_are_replaced_and_nothing_else() {
        for (text, read) in [
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00\ud83d\ude00\ud83d\n""#, "\u{fffd}\u{1f600}\u{fffd}\n"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\ud83d \u00e9 \ud83dé""#, "\\ud83d é \u{fffd}é"),
        ] {
            assert_eq!(parse(text).expect(text), read, "{text}");
        }
        for text in ["", "\\", r#""\"#, r#""\u"#, r#""\ud83"#, r#""\ud83d"#, r#""\é"#] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
