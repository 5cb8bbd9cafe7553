//! English words whose forms have different stems.

use std::collections::BTreeSet;

use super::stems::stem_of;

/// The stems of all forms of a word, that of the base form first. `None` if its forms are regular.
pub(super) fn stems_of_forms(word: &str, stem: &str) -> Option<Vec<String>> {
    let forms = FORMS.iter().find(|forms| is_form(word, stem, forms))?;
    let mut seen = BTreeSet::new();
    let stems = forms.split(' ').map(|form| stem_of(form, true));
    Some(stems.filter(|stem| seen.insert(stem.clone())).collect())
}

/// Whether a word is one of the forms, or a regular form of the base, such as `freezing`.
fn is_form(word: &str, stem: &str, forms: &str) -> bool {
    let base = forms.split(' ').next().unwrap_or_default();
    // Most bases begin with other letters, which spares their stems.
    let may_be_of_base = stem.bytes().take(2).eq(base.bytes().take(2));
    forms.split(' ').any(|form| form == word) || (may_be_of_base && stem_of(base, true) == stem)
}

/// The forms of each word, its base first. Left out are forms that are more often another word, such as
/// `bit` and `bound`.
const FORMS: &[&str] = &[
    "analysis analyses",
    "appendix appendices",
    "arise arose arisen",
    "axis axes",
    "become became",
    "begin began begun",
    "bend bent",
    "blow blew blown",
    "break broke broken",
    "breed bred",
    "bring brought",
    "build built",
    "burn burnt",
    "buy bought",
    "catch caught",
    "child children",
    "choose chose chosen",
    "come came",
    "creep crept",
    "criterion criteria",
    "deal dealt",
    "dig dug",
    "draw drew drawn",
    "drink drank drunk",
    "drive drove driven",
    "eat ate eaten",
    "fall fell fallen",
    "feed fed",
    "feel felt",
    "fight fought",
    "find found",
    "fly flew flown",
    "foot feet",
    "forget forgot forgotten",
    "freeze froze frozen",
    "get got gotten",
    "give gave given",
    "go went gone",
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
    "lead led",
    "learn learnt",
    "leave left",
    "lend lent",
    "lose lost",
    "make made",
    "man men",
    "matrix matrices",
    "mean meant",
    "meet met",
    "mouse mice",
    "overwrite overwrote overwritten",
    "pay paid",
    "person people",
    "rebuild rebuilt",
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
    "stand stood",
    "steal stole stolen",
    "stick stuck",
    "strike struck",
    "swear swore sworn",
    "sweep swept",
    "swim swam swum",
    "swing swung",
    "take took taken",
    "teach taught",
    "tear tore torn",
    "tell told",
    "think thought",
    "throw threw thrown",
    "tooth teeth",
    "understand understood",
    "undo undid undone",
    "vertex vertices",
    "wake woke woken",
    "wear wore worn",
    "weave wove woven",
    "win won",
    "withdraw withdrew withdrawn",
    "woman women",
    "write wrote written",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(word: &str) -> Option<String> {
        stems_of_forms(word, &stem_of(word, true)).map(|stems| stems.join(" "))
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
    fn each_form_is_of_one_word() {
        let forms: Vec<&str> = FORMS.iter().flat_map(|forms| forms.split(' ')).collect();
        assert_eq!(forms.iter().collect::<BTreeSet<_>>().len(), forms.len());
    }
}
