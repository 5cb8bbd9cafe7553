//! Tells whether a fenced code block or an HTML block is open, that is, lacks its end mark.

/// Whether the source of a fenced code block lacks its closing fence. In a container (a list item,
/// a quote) the last line may begin with the container's marks.
pub(super) fn is_open_fence(source: &str, in_container: bool) -> bool {
    let source = source.trim_start();
    let Some(mark) = source.chars().next() else {
        return true;
    };
    let width = source.chars().take_while(|c| *c == mark).count();
    let source = source.trim_end_matches([' ', '\t', '\n', '\r']);
    let last = source.rsplit(['\n', '\r']).next().unwrap_or_default();
    let last = if in_container {
        last.trim_start_matches([' ', '\t', '>'])
    } else {
        // At most three spaces may precede a closing fence. With four, the line is code.
        let indentation = last.len() - last.trim_start_matches(' ').len();
        &last[indentation.min(3)..]
    };
    let is_opener = last.len() == source.len();
    is_opener || last.len() < width || last.chars().any(|c| c != mark)
}

/// Whether an HTML block lacks its end mark. Only some kinds have one, such as scripts and
/// comments; the other kinds end at a blank line (CommonMark 0.31.2, section 4.6).
///
/// Readers differ about `<script>`, `<pre>`, `<style>` and `<textarea>`: for some, any of the four
/// end tags closes the block; for others, only its own end tag in lower case. Such a block counts
/// as closed only if both rules close it at the same place.
pub(super) fn is_open_html(source: &str) -> bool {
    let exact = source.trim_start();
    let source = exact.to_ascii_lowercase();
    const RAW: [(&str, &str); 4] = [
        ("<script", "</script>"),
        ("<pre", "</pre>"),
        ("<style", "</style>"),
        ("<textarea", "</textarea>"),
    ];
    let raw = RAW.iter().find(|(tag, _)| {
        source
            .strip_prefix(tag)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['>', ' ', '\t', '\n', '\r']))
    });
    if let Some((_, own_end)) = raw {
        let first_end = RAW.iter().filter_map(|(_, end)| source.find(end)).min();
        return first_end.is_none() || exact.find(own_end) != first_end;
    }
    let end = if source.starts_with("<!--") {
        "-->"
    } else if source.starts_with("<?") {
        "?>"
    } else if source.starts_with("<![cdata[") {
        "]]>"
    } else if source.starts_with("<!") {
        ">"
    } else {
        return false;
    };
    !source.contains(end)
}

/// Whether every version of CommonMark reads the block as raw HTML with the same end. Versions
/// differ in the tags that begin a block (0.31 adds `<search>` and removes `<source>`), in the end of
/// `<textarea>` (since 0.30 its end tag, before that a blank line) and in declarations (since 0.30
/// also in lower case). GitHub uses an older version.
pub(super) fn is_html_in_every_version(source: &str) -> bool {
    let source = source.trim_start().to_ascii_lowercase();
    ["<script", "<pre", "<style", "<!--", "<?", "<![cdata["]
        .iter()
        .any(|tag| source.starts_with(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_open_until_a_closing_fence_of_its_mark() {
        for open in [
            "```",
            "```rust\ncode",
            "````\n```",
            "~~~\n```",
            "```\n> ```",
            "```\n``` x",
            "```\n    ```",
            "```\n\t```",
        ] {
            assert!(is_open_fence(open, false), "{open}");
        }
        for closed in ["```\n```", "```rust\ncode\n````\n", "~~~\ncode\n  ~~~ "] {
            assert!(!is_open_fence(closed, false), "{closed}");
        }
        assert!(!is_open_fence("```\n> code\n> ```", true));
    }

    #[test]
    fn html_is_open_until_its_end_mark() {
        for open in [
            "<!-- a",
            "<SCRIPT>\nx",
            "<?php",
            "<!DOCTYPE",
            "<![CDATA[ ]]",
            "<pre\n",
            "<script></style>",
            "<script></SCRIPT>",
        ] {
            assert!(is_open_html(open), "{open}");
        }
        for closed in ["<!-->", "<!-- a\n-->", "<script>\n</script>", "<div>", "<prefix>", "<!X>"] {
            assert!(!is_open_html(closed), "{closed}");
        }
    }
}
