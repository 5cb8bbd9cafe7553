//! Stop words: words that do not tell the subject of a question.

/// A set of languages. The bit of a language has the index of its list in [`LISTS`].
pub(super) type Languages = u16;

/// The languages in which a word is a stop word. The word is in plain form: without case and accents.
pub(super) fn languages_of(word: &str) -> Languages {
    let mut slot = hash(word.as_bytes());
    while !TABLE.words[slot].is_empty() {
        if TABLE.words[slot] == word {
            return TABLE.languages[slot];
        }
        slot = (slot + 1) % SLOTS;
    }
    0
}

/// The number of slots: about twice the number of words, so that most words are in the slot of their
/// hash.
const SLOTS: usize = 2_048;

/// A hash table with linear probing. An empty word marks a free slot.
struct Table {
    words: [&'static str; SLOTS],
    languages: [Languages; SLOTS],
}

/// The table is filled at compile time: each call has a new instance of the component, which would have
/// to fill it again.
static TABLE: Table = Table::new();

impl Table {
    const fn new() -> Self {
        let mut table = Self { words: [""; SLOTS], languages: [0; SLOTS] };
        let mut list = 0;
        while list < LISTS.len() {
            let mut at = 0;
            while at < LISTS[list].len() {
                let word = LISTS[list][at];
                let mut slot = hash(word.as_bytes());
                while !table.words[slot].is_empty() && !is_same(table.words[slot], word) {
                    slot = (slot + 1) % SLOTS;
                }
                table.words[slot] = word;
                table.languages[slot] |= 1 << list;
                at += 1;
            }
            list += 1;
        }
        table
    }
}

/// Compares two strings: `==` is not available in constant functions.
const fn is_same(one: &str, other: &str) -> bool {
    let one = one.as_bytes();
    let other = other.as_bytes();
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Hashes only some bytes of a word: they tell most words from each other.
const fn hash(word: &[u8]) -> usize {
    if word.is_empty() {
        return 0;
    }
    let last = word.len() - 1;
    let middle = word[word.len() / 2] as usize;
    let second = word[if last > 0 { 1 } else { 0 }] as usize;
    let letters = word[0] as usize * 31 + second * 1_009 + middle * 347 + word[last] as usize * 131;
    (letters + word.len() * 613) % SLOTS
}

/// Whether a plain word is a stop word of Russian. Russian needs no detection, because its letters
/// identify it.
pub(super) fn is_russian_stop_word(word: &str) -> bool {
    RUSSIAN.binary_search(&word).is_ok()
}

/// Whether a stop word of another language is also a word of English with another meaning.
pub(super) fn is_english_too(word: &str) -> bool {
    ENGLISH_TOO.binary_search(&word).is_ok()
}

/// These words alone do not tell the language of a question.
#[rustfmt::skip]
const ENGLISH_TOO: &[&str] = &[
    "bare", "bin", "contra", "den", "die", "dig", "door", "dos", "end", "era", "ham", "hat", "man",
    "met", "min", "mine", "mit", "mod", "par", "per", "plus", "pour", "sans", "sin", "sine",
    "ska", "solo", "son", "tan", "ton", "tot", "tout", "van", "vi", "want", "war",
];

/// Whether a stop word is also a common abbreviation, which people write in capitals: `IT`, `DoS`. Other
/// stop words in capitals are only stressed, such as `ONLY`.
pub(super) fn is_abbreviation(word: &str) -> bool {
    ABBREVIATIONS.binary_search(&word).is_ok()
}

#[rustfmt::skip]
const ABBREVIATIONS: &[&str] = &[
    "ai", "as", "can", "ci", "das", "der", "des", "di", "die", "dos", "el", "er", "es", "ha", "his", "it",
    "la", "le", "mit", "os", "per", "se", "so", "um", "war", "who",
];

/// The lists in the order of the languages in `Language::ALL`.
const LISTS: [&[&str]; 10] =
    [ENGLISH, DANISH, DUTCH, FRENCH, GERMAN, ITALIAN, NORWEGIAN, PORTUGUESE, SPANISH, SWEDISH];

/// In byte order, like all lists. A contraction is listed as its parts: `don't` as `don` and `t`.
#[rustfmt::skip]
const ENGLISH: &[&str] = &[
    "a", "about", "above", "after", "again", "against", "all", "am", "an", "and", "any", "are",
    "aren", "as", "at", "be", "because", "been", "before", "being", "below", "between", "both",
    "but", "by", "can", "could", "couldn", "d", "did", "didn", "do", "does", "doesn", "doing",
    "don", "down", "during", "each", "few", "for", "from", "further", "had", "hadn", "has", "hasn",
    "have", "haven", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his",
    "how", "i", "if", "in", "into", "is", "isn", "it", "its", "itself", "just", "ll", "m", "me",
    "more", "most", "my", "myself", "no", "nor", "not", "now", "of", "off", "on", "once", "only",
    "or", "other", "our", "ours", "ourselves", "out", "over", "own", "re", "s", "same", "she",
    "should", "shouldn", "so", "some", "such", "t", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "these", "they", "this", "those", "through", "to", "too",
    "under", "until", "up", "ve", "very", "was", "wasn", "we", "were", "weren", "what", "when",
    "where", "which", "while", "who", "whom", "why", "will", "with", "won", "would", "wouldn",
    "you", "your", "yours", "yourself", "yourselves",
];

#[rustfmt::skip]
const DANISH: &[&str] = &[
    "ad", "af", "alle", "alt", "at", "blev", "blive", "bliver", "da", "de", "dem", "den", "denne",
    "der", "deres", "det", "dette", "dig", "din", "disse", "du", "efter", "eller", "en", "end",
    "er", "et", "fik", "for", "fra", "ham", "han", "hans", "har", "havde", "have", "hende",
    "hendes", "her", "hos", "hun", "hvad", "hvem", "hver", "hvilken", "hvis", "hvor", "hvornar",
    "i", "igen", "ikke", "ind", "ingen", "ja", "jeg", "jer", "kan", "kom", "kunne", "man", "med",
    "meget", "mig", "min", "mine", "mit", "mod", "nar", "nej", "noget", "nu", "og", "ogsa", "om",
    "op", "os", "over", "pa", "sa", "sig", "sin", "sine", "skal", "skulle", "som", "til", "ud",
    "uden", "under", "var", "ved", "vi", "vil", "ville", "vor",
];

#[rustfmt::skip]
const DUTCH: &[&str] = &[
    "aan", "al", "alles", "als", "altijd", "ben", "bij", "daar", "dan", "dat", "de", "deze", "die",
    "dit", "doch", "door", "dus", "een", "en", "er", "geen", "had", "heb", "hebben", "heeft", "hem",
    "het", "hier", "hij", "hoe", "hun", "iets", "ik", "in", "is", "ja", "je", "jij", "jou", "jouw",
    "kan", "kon", "kunnen", "maar", "me", "meer", "met", "mij", "mijn", "moet", "moeten", "na",
    "naar", "niet", "niets", "nog", "nu", "of", "om", "omdat", "onder", "ons", "onze", "ook", "op",
    "over", "te", "tegen", "toch", "toen", "tot", "uit", "uw", "van", "veel", "voor", "waar",
    "waarom", "want", "waren", "was", "wat", "we", "wel", "welke", "werd", "wie", "wij", "wil",
    "worden", "wordt", "zal", "ze", "zich", "zij", "zijn", "zo", "zonder", "zou",
];

#[rustfmt::skip]
const FRENCH: &[&str] = &[
    "a", "ai", "alors", "au", "aucun", "aussi", "autre", "aux", "avait", "avec", "avez", "avoir",
    "avons", "ce", "ceci", "cela", "celle", "celles", "celui", "ces", "cet", "cette", "ceux",
    "chez", "comme", "comment", "d", "dans", "de", "des", "donc", "du", "elle", "elles", "en",
    "encore", "entre", "es", "est", "et", "etaient", "etait", "ete", "etes", "etre", "eu", "fait",
    "fut", "il", "ils", "j", "je", "l", "la", "le", "les", "leur", "leurs", "lui", "m", "ma",
    "mais", "me", "meme", "mes", "moi", "mon", "n", "ne", "ni", "nos", "notre", "nous", "on", "ont",
    "ou", "par", "pas", "peu", "peut", "plus", "pour", "pourquoi", "puis", "qu", "quand", "que",
    "quel", "quelle", "quelles", "quels", "qui", "quoi", "s", "sa", "sans", "se", "sera", "ses",
    "si", "son", "sont", "sous", "sur", "t", "ta", "te", "tes", "toi", "ton", "tous", "tout",
    "toute", "toutes", "tres", "tu", "un", "une", "vers", "vos", "votre", "vous", "y",
];

#[rustfmt::skip]
const GERMAN: &[&str] = &[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "also", "am", "an", "auch", "auf",
    "aus", "bei", "beim", "bin", "bis", "bist", "da", "damit", "dann", "das", "dass", "dein",
    "deine", "dem", "den", "denn", "der", "des", "dessen", "dich", "die", "dies", "diese", "diesem",
    "diesen", "dieser", "dieses", "dir", "doch", "dort", "du", "durch", "ein", "eine", "einem",
    "einen", "einer", "eines", "er", "es", "etwas", "euch", "euer", "fur", "gegen", "hab", "habe",
    "haben", "hat", "hatte", "hatten", "hier", "hin", "hinter", "ich", "ihm", "ihn", "ihnen", "ihr",
    "ihre", "ihrem", "ihren", "ihrer", "im", "in", "ins", "ist", "ja", "jede", "jedem", "jeden",
    "jeder", "jedes", "jetzt", "kann", "kein", "keine", "keinem", "keinen", "keiner", "konnen",
    "konnte", "man", "manche", "mehr", "mein", "meine", "meinem", "meinen", "meiner", "mich", "mir",
    "mit", "muss", "musste", "nach", "nicht", "nichts", "noch", "nun", "nur", "ob", "oder", "ohne",
    "schon", "sehr", "sein", "seine", "seinem", "seinen", "seiner", "sich", "sie", "sind", "so",
    "solche", "soll", "sollte", "sondern", "sonst", "uber", "um", "und", "uns", "unser", "unsere",
    "unter", "viel", "vom", "von", "vor", "wann", "war", "waren", "warum", "was", "weil", "welche",
    "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn", "wer", "werde", "werden",
    "wie", "wieder", "will", "wir", "wird", "wirst", "wo", "wohin", "wollen", "wollte", "wurde",
    "wurden", "zu", "zum", "zur", "zwar", "zwischen",
];

#[rustfmt::skip]
const ITALIAN: &[&str] = &[
    "a", "abbiamo", "ad", "agli", "ai", "al", "alla", "alle", "allo", "anche", "avere", "aveva",
    "che", "chi", "ci", "come", "con", "contro", "cosa", "cui", "da", "dagli", "dai", "dal",
    "dalla", "dalle", "degli", "dei", "del", "della", "delle", "dello", "di", "dopo", "dove", "e",
    "ed", "era", "erano", "essere", "fa", "fu", "gli", "ha", "hai", "hanno", "ho", "i", "il", "in",
    "io", "l", "la", "le", "lei", "li", "lo", "loro", "lui", "ma", "me", "mi", "mia", "mie", "mio",
    "molto", "ne", "negli", "nei", "nel", "nella", "nelle", "noi", "non", "nostra", "nostro", "o",
    "ogni", "per", "perche", "piu", "po", "poi", "qual", "quale", "quali", "quando", "quella",
    "quelle", "quelli", "quello", "questa", "queste", "questi", "questo", "qui", "se", "sei", "si",
    "sia", "siamo", "sono", "sta", "stata", "stati", "stato", "su", "sua", "sue", "sugli", "sui",
    "sul", "sulla", "suo", "suoi", "tra", "tu", "tua", "tue", "tuo", "tutti", "tutto", "un", "una",
    "uno", "vi", "voi",
];

#[rustfmt::skip]
const NORWEGIAN: &[&str] = &[
    "alle", "at", "av", "bare", "ble", "blir", "da", "de", "deg", "dem", "den", "denne", "der",
    "deres", "det", "dette", "din", "du", "eller", "en", "er", "et", "etter", "for", "fra", "ha",
    "hadde", "han", "hans", "har", "hennes", "her", "hun", "hva", "hvem", "hver", "hvilken", "hvis",
    "hvor", "hvordan", "i", "ikke", "ingen", "inn", "ja", "jeg", "kan", "kom", "kunne", "man",
    "med", "meg", "mellom", "min", "mitt", "mot", "mye", "na", "nar", "noe", "noen", "og", "ogsa",
    "om", "opp", "oss", "over", "pa", "sa", "seg", "selv", "sin", "skal", "skulle", "som", "til",
    "ut", "uten", "var", "ved", "vi", "vil", "ville",
];

#[rustfmt::skip]
const PORTUGUESE: &[&str] = &[
    "a", "ao", "aos", "as", "ate", "cada", "com", "como", "da", "das", "de", "dela", "dele",
    "deles", "depois", "do", "dos", "e", "ela", "elas", "ele", "eles", "em", "entre", "era", "eram",
    "essa", "essas", "esse", "esses", "esta", "estao", "estava", "este", "estes", "eu", "foi",
    "foram", "ha", "isso", "isto", "ja", "lhe", "mais", "mas", "me", "mesmo", "meu", "meus",
    "minha", "muito", "na", "nao", "nas", "nem", "no", "nos", "nossa", "nosso", "num", "numa", "o",
    "onde", "os", "ou", "para", "pela", "pelas", "pelo", "pelos", "por", "porque", "quais", "qual",
    "quando", "que", "quem", "sao", "se", "seja", "sem", "ser", "sera", "seu", "seus", "so",
    "sobre", "sua", "suas", "tambem", "te", "tem", "tenho", "ter", "teve", "tinha", "tu", "um",
    "uma", "umas", "uns", "voce", "voces",
];

#[rustfmt::skip]
const RUSSIAN: &[&str] = &[
    "а", "без", "более", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "весь",
    "во", "вот", "все", "всего", "всех", "вы", "где", "да", "даже", "для", "до", "его", "ее",
    "если", "есть", "еще", "же", "за", "здесь", "и", "из", "или", "им", "их", "к", "как", "какая",
    "какие", "какой", "ко", "когда", "который", "кто", "ли", "либо", "мне", "много", "может", "мой",
    "моя", "мы", "на", "над", "надо", "наш", "наша", "не", "него", "нее", "нет", "ни", "них", "но",
    "ну", "о", "об", "он", "она", "они", "оно", "от", "очень", "по", "под", "после", "при", "про",
    "с", "сам", "свой", "своя", "себя", "сейчас", "со", "так", "также", "такой", "там", "те",
    "тебя", "тем", "то", "тогда", "того", "тоже", "той", "только", "том", "ты", "у", "уже", "хотя",
    "чего", "чей", "чем", "что", "чтобы", "эта", "эти", "это", "этого", "этот", "я",
];

#[rustfmt::skip]
const SPANISH: &[&str] = &[
    "a", "al", "algo", "alguna", "alguno", "algunos", "ante", "antes", "aqui", "asi", "aun",
    "aunque", "cada", "como", "con", "contra", "cual", "cuales", "cuando", "cuanto", "de", "del",
    "desde", "donde", "durante", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era", "eran",
    "es", "esa", "esas", "ese", "eso", "esos", "esta", "estaba", "estan", "estar", "estas", "este",
    "esto", "estos", "estoy", "fue", "fueron", "ha", "habia", "hace", "hacia", "han", "hasta",
    "hay", "he", "la", "las", "le", "les", "lo", "los", "mas", "me", "mi", "mis", "mucho", "muy",
    "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestro", "o", "os", "otra", "otro", "otros",
    "para", "pero", "poco", "por", "porque", "pues", "que", "quien", "quienes", "se", "sea", "ser",
    "si", "sido", "sin", "sobre", "solo", "son", "soy", "su", "sus", "tambien", "tan", "tanto",
    "te", "tengo", "ti", "tiene", "tienen", "todo", "todos", "tu", "tus", "un", "una", "unas",
    "uno", "unos", "y", "ya", "yo",
];

#[rustfmt::skip]
const SWEDISH: &[&str] = &[
    "alla", "allt", "att", "av", "bara", "blev", "bli", "blir", "da", "dar", "de", "dem", "den",
    "denna", "deras", "dess", "det", "detta", "dig", "din", "dina", "du", "efter", "ej", "eller",
    "en", "er", "ett", "fick", "finns", "for", "fran", "ha", "hade", "han", "hans", "har", "hela",
    "henne", "hennes", "hon", "hur", "i", "icke", "ingen", "inget", "inte", "jag", "kan", "kunde",
    "man", "med", "mellan", "mer", "mig", "min", "mina", "mot", "mycket", "nagon", "nagot", "nar",
    "ni", "nu", "och", "om", "oss", "pa", "sa", "samma", "sedan", "sig", "sin", "sina", "ska",
    "skulle", "som", "till", "under", "upp", "ut", "utan", "vad", "var", "vara", "vart", "vem",
    "vi", "vid", "vilka", "vilken", "vilket", "vill",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::words;

    #[test]
    fn a_word_has_each_language_whose_list_has_it() {
        assert_eq!(languages_of("the"), 1);
        assert_eq!(languages_of("kestrel") | languages_of(""), 0);
        for word in LISTS.into_iter().flatten() {
            let lists = (0..LISTS.len()).filter(|list| LISTS[*list].contains(word));
            let expected: Languages = lists.map(|list| 1 << list).sum();
            assert_eq!(languages_of(word), expected, "{word}");
        }
    }

    #[test]
    fn words_that_are_english_too_are_stop_words_of_another_language() {
        for word in ENGLISH_TOO {
            assert!(languages_of(word) & 1 == 0 && languages_of(word) != 0, "{word}");
        }
    }

    #[test]
    fn most_words_are_found_at_once() {
        let words: Vec<&str> = TABLE.words.into_iter().filter(|word| !word.is_empty()).collect();
        let at_once = words.iter().filter(|word| TABLE.words[hash(word.as_bytes())] == **word);
        let at_once = at_once.count();
        let taken = words.len();
        assert!(taken * 2 < SLOTS, "{taken}");
        assert!(at_once * 4 > taken * 3, "{at_once} of {taken}");
    }

    #[test]
    fn each_list_is_sorted_and_plain() {
        for list in LISTS.into_iter().chain([RUSSIAN, ENGLISH_TOO, ABBREVIATIONS]) {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            assert!(list.iter().all(|word| words(word) == [*word]), "{list:?}");
        }
    }
}
