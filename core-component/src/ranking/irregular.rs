//! English words whose forms have different stems.

use std::collections::BTreeSet;

use super::language::Language;
use crate::words::Role;

/// The stems of all forms of an irregular word, the stem of the base form first. `None` if the word is
/// regular.
pub(super) fn stems_of_forms(word: &str, stem: &str) -> Option<Vec<String>> {
    let forms = FORMS.iter().find(|forms| is_form(word, stem, forms))?;
    let mut seen = BTreeSet::new();
    let stems = forms.split(' ').map(english);
    Some(stems.filter(|stem| seen.insert(stem.clone())).collect())
}

/// Whether a word is one of the forms, or a regular form of the base, such as `freezing`.
fn is_form(word: &str, stem: &str, forms: &str) -> bool {
    let base = forms.split(' ').next().unwrap_or_default();
    // Compares two letters first, to stem only few of the bases.
    let may_be_of_base = stem.bytes().take(2).eq(base.bytes().take(2));
    forms.split(' ').any(|form| form == word) || (may_be_of_base && english(base) == stem)
}

fn english(word: &str) -> String {
    Language::English.stem(word, Role::Word).into_owned()
}

/// The forms of each word, its base first. Without forms that are more often another word, such as
/// `bit` and `bound`.
const FORMS: &[&str] = &[
    "alias aliases",
    "analysis analyses",
    "appendix appendices",
    "arise arose arisen",
    "axis axes",
    "become became",
    "begin began begun",
    "bend bent",
    "bias biases",
    "bleed bled",
    "blow blew blown",
    "break broke broken",
    "breed bred",
    "bring brought",
    "build built",
    "burn burnt",
    "bus buses",
    "buy bought",
    "canvas canvases",
    "catch caught",
    "child children",
    "choose chose chosen",
    "come came",
    "creep crept",
    "crisis crises",
    "criterion criteria",
    "deal dealt",
    "diagnosis diagnoses",
    "dig dug",
    "draw drew drawn",
    "drink drank drunk",
    "drive drove driven",
    "eat ate eaten",
    "emphasis emphases",
    "fall fell fallen",
    "feed fed",
    "feel felt",
    "fight fought",
    "find found",
    "flee fled",
    "fly flew flown",
    "foot feet",
    "forbid forbade forbidden",
    "foresee foresaw foreseen",
    "forget forgot forgotten",
    "forgive forgave forgiven",
    "freeze froze frozen",
    "get got gotten",
    "give gave given",
    "go goes went gone",
    "grow grew grown",
    "half halves",
    "hang hung",
    "hear heard",
    "hide hid hidden",
    "hold held",
    "hypothesis hypotheses",
    "index indices",
    "keep kept",
    "knife knives",
    "know knew known",
    "lay laid",
    "lead led",
    "learn learnt",
    "leave left",
    "lend lent",
    "lens lenses",
    "lose lost",
    "make made",
    "man men",
    "matrix matrices",
    "mean meant",
    "meet met",
    "mislead misled",
    "mistake mistook mistaken",
    "misunderstand misunderstood",
    "mouse mice",
    "outgrow outgrew outgrown",
    "overcome overcame",
    "override overrode overridden",
    "oversee oversaw overseen",
    "overtake overtook overtaken",
    "overwrite overwrote overwritten",
    "panic panicked panicking",
    "parenthesis parentheses",
    "pay paid",
    "person people",
    "phenomenon phenomena",
    "prove proven",
    "quiz quizzes",
    "rebuild rebuilt",
    "redo redid redone",
    "rerun reran",
    "resend resent",
    "rethink rethought",
    "rewind rewound",
    "rewrite rewrote rewritten",
    "ride rode ridden",
    "ring rang rung",
    "rise rose risen",
    "run ran",
    "say said",
    "schema schemata",
    "see saw seen",
    "seek sought",
    "sell sold",
    "send sent",
    "shake shook shaken",
    "shelf shelves",
    "shine shone",
    "shoot shot",
    "show shown",
    "shrink shrank shrunk",
    "sing sang sung",
    "sink sank sunk",
    "sit sat",
    "sleep slept",
    "slide slid",
    "speak spoke spoken",
    "spend spent",
    "spin spun",
    "spring sprang sprung",
    "stand stood",
    "steal stole stolen",
    "stick stuck",
    "sting stung",
    "strike struck",
    "strive strove striven",
    "swear swore sworn",
    "sweep swept",
    "swell swollen",
    "swim swam swum",
    "swing swung",
    "synthesis syntheses",
    "take took taken",
    "teach taught",
    "tear tore torn",
    "tell told",
    "thief thieves",
    "think thought",
    "throw threw thrown",
    "tooth teeth",
    "understand understood",
    "undo undid undone",
    "uphold upheld",
    "vertex vertices",
    "wake woke woken",
    "wear wore worn",
    "weave wove woven",
    "wife wives",
    "withdraw withdrew withdrawn",
    "withhold withheld",
    "wolf wolves",
    "woman women",
    "write wrote written",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(word: &str) -> Option<String> {
        stems_of_forms(word, &english(word)).map(|stems| stems.join(" "))
    }

    #[test]
    fn every_form_of_an_irregular_word_has_the_stems_of_all() {
        for word in ["freeze", "freezes", "freezing", "froze", "frozen"] {
            assert_eq!(stems(word).as_deref(), Some("freez froze frozen"), "{word}");
        }
        for word in ["indices", "indexes", "indexing"] {
            assert_eq!(stems(word).as_deref(), Some("index indic"), "{word}");
        }
        assert_eq!(stems("test"), None);
    }

    #[test]
    fn no_form_is_found_by_a_stop_word() {
        for form in FORMS.iter().flat_map(|forms| forms.split(' ')) {
            assert!(!Language::English.has_stop_word(&english(form)), "{form}");
        }
    }

    #[test]
    fn each_form_is_of_one_word() {
        let forms: Vec<&str> = FORMS.iter().flat_map(|forms| forms.split(' ')).collect();
        assert_eq!(forms.iter().collect::<BTreeSet<_>>().len(), forms.len());
    }
}
