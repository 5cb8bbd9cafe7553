//! Words that say what kind of answer a question wants, such as `explain`, and seldom what the question
//! is about.

/// Whether a stem is in [`ASKING`].
pub(super) fn is_asking(stem: &str) -> bool {
    ASKING.binary_search(&stem).is_ok()
}

/// Stems of English, in byte order.
const ASKING: &[&str] = &[
    "answer",
    "aspect",
    "bring",
    "compar",
    "convers",
    "describ",
    "detail",
    "differ",
    "discuss",
    "exact",
    "explain",
    "give",
    "help",
    "involv",
    "item",
    "kind",
    "know",
    "list",
    "mani",
    "mention",
    "much",
    "name",
    "often",
    "order",
    "provid",
    "recommend",
    "rememb",
    "remind",
    "show",
    "specif",
    "suggest",
    "summar",
    "talk",
    "tell",
    "thing",
    "told",
    "type",
    "use",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::stems::each_stem;

    #[test]
    fn the_list_is_in_order_and_has_the_stems_of_its_words() {
        assert!(ASKING.is_sorted());
        let words = "mentions discussed summarize conversations different specifically told";
        each_stem(words, |word, stem| assert!(is_asking(stem), "{word} {stem}"));
        assert!(!is_asking("passport"));
    }
}
