//! An agent's file without its records: the database keeps this text after a conversion to SQLite.

use super::file::JsonFile;
use super::write::spliced;
use crate::toolsets::records::memory::Kind;

/// The text of an agent's file without its records, split at the arrays.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::toolsets::records) struct Outline {
    pub sections: Vec<Section>,
    /// The text after the last array.
    pub end: String,
}

/// An array of the file without its records, and the text before it.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::toolsets::records) struct Section {
    /// The text before this array, from the end of the array before it or from the beginning of the
    /// file.
    pub before: String,
    pub kind: Kind,
    /// The text of the empty array, as the file has it.
    pub empty: String,
}

impl JsonFile {
    /// The file's text with all its arrays emptied.
    pub fn without_records(&self) -> String {
        let arrays = Kind::ALL.into_iter().filter_map(|kind| self.array(kind));
        let emptied = arrays.filter(|array| !array.records.is_empty());
        spliced(&self.text, emptied.map(|array| (array.range.clone(), "[]".to_owned())).collect())
    }
}

impl Outline {
    /// Splits the text of an agent's file without its records. Adds an empty array for each type
    /// without an array if `needs` is true for the type. Returns `None` if the text is not that of
    /// an agent's file.
    pub fn parse(text: &str, needs: impl Fn(Kind) -> bool) -> Option<Self> {
        let mut file = scanned(text)?;
        let missing = |kind: &Kind| file.array(*kind).is_none() && needs(*kind);
        let missing: Vec<Kind> = Kind::ALL.into_iter().filter(missing).collect();
        if !missing.is_empty() {
            let added: Vec<_> =
                missing.iter().map(|kind| format!("\n  \"{}\": []", kind.array())).collect();
            let added = added.join(",");
            let text = match file.members.last() {
                Some(last) => {
                    let (before, after) = file.text.split_at(last.value.end);
                    format!("{before},{added}{after}")
                }
                None => format!("{}{{{added}\n}}", &text[..file.start()]),
            };
            file = scanned(&text)?;
        }
        let arrays = Kind::ALL.into_iter().filter_map(|kind| Some((kind, file.array(kind)?)));
        let mut arrays: Vec<_> = arrays.collect();
        arrays.sort_by_key(|(_, array)| array.range.start);
        let mut at = 0;
        let sections = arrays.into_iter().map(|(kind, array)| {
            let before = file.text[at..array.range.start].to_owned();
            at = array.range.end;
            Section { before, kind, empty: file.text[array.range.clone()].to_owned() }
        });
        let sections = sections.collect();
        Some(Self { sections, end: file.text[at..].to_owned() })
    }
}

fn scanned(text: &str) -> Option<JsonFile> {
    let mut file = JsonFile::unscanned("", text.to_owned());
    file.scan().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_the_text_and_the_arrays_that_it_lacks() {
        let text = "{\"x\": 1, \"tasks\": [ ], \"y\": 2}\n";
        let outline = Outline::parse(text, |kind| kind == Kind::Core).expect("an outline");
        let sections = [
            ("{\"x\": 1, \"tasks\": ", Kind::Task, "[ ]"),
            (", \"y\": 2,\n  \"core_memories\": ", Kind::Core, "[]"),
        ];
        let sections = sections.map(|(before, kind, empty)| Section {
            before: before.to_owned(),
            kind,
            empty: empty.to_owned(),
        });
        assert_eq!(outline, Outline { sections: sections.into(), end: "}\n".to_owned() });
        assert_eq!(Outline::parse("[]", |_| false), None);
        let outline = Outline::parse("\u{feff}{}", |kind| kind == Kind::Task).expect("an outline");
        let before = "\u{feff}{\n  \"tasks\": ".to_owned();
        let section = Section { before, kind: Kind::Task, empty: "[]".to_owned() };
        assert_eq!(outline, Outline { sections: vec![section], end: "\n}".to_owned() });
    }
}
