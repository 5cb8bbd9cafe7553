//! A memory: reads and changes the text of its file.

use super::error::{Code, Error};
use super::path::MemoryPath;
use crate::front_matter::{FrontMatter, KeyChange, document, with_front_matter};
use crate::index::Written;
use crate::passage::replace_passage;
use crate::storage::Splice;
use crate::time::{Date, Timestamp};
use crate::tool::Call;
use crate::yaml::{New, Node, YamlError};

/// The `source` of memories that a model adds, the same on every host.
pub(super) const OF_MODELS: &str = "mcp";

/// The `source` of memories that a person writes.
pub(super) const OF_PEOPLE: &str = "user";

/// The front matter keys for the dates of creation and of the last change. Our key is first, then
/// those of other programs. The first key with a valid date counts.
const CREATED: [&str; 3] = ["created_at", "created", "date"];
const UPDATED: [&str; 3] = ["updated_at", "updated", "modified"];

/// The metadata of a memory, from its front matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Metadata {
    pub created_at: Option<Timestamp>,
    pub updated_at: Option<Timestamp>,
    pub tags: Vec<String>,
    pub source: Option<String>,
    pub expires_at: Option<Timestamp>,
    pub citations: Vec<String>,
    /// When the memory was created, or else last changed.
    pub written: Option<Written>,
    /// The names that other programs give the memory: its title and its aliases.
    pub names: Vec<String>,
}

impl Metadata {
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|expires_at| expires_at <= now)
    }
}

/// A memory as it is in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Memory<'a> {
    /// The Markdown below the front matter, byte for byte.
    pub content: &'a str,
    pub metadata: Metadata,
}

/// The maximum number of characters of a memory's content.
pub(super) const MAX_CONTENT: usize = 1_000_000;

/// A passage of the content, and the text that replaces it.
#[derive(Clone, Debug)]
pub(super) struct Passage {
    pub old: String,
    pub new: String,
}

/// The changes of an update. A field that is `None` stays unchanged.
#[derive(Clone, Debug, Default)]
pub(super) struct Update {
    pub content: Option<String>,
    /// `None` if `content` is set.
    pub passage: Option<Passage>,
    pub tags: Option<Vec<String>>,
    pub citations: Option<Vec<String>>,
    /// The new expiry. `Some(None)` removes the expiry.
    pub expires_at: Option<Option<Timestamp>>,
}

impl Update {
    pub fn is_empty(&self) -> bool {
        let Self { content, passage, tags, citations, expires_at } = self;
        content.is_none()
            && passage.is_none()
            && tags.is_none()
            && citations.is_none()
            && expires_at.is_none()
    }

    /// Returns the update with `content` instead of `passage`: the memory's content with the
    /// passage replaced.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` if the passage does not occur exactly once, or if the new content would be
    /// blank or too long. `CORRUPTED_DATA` as for [`Memory::read`].
    pub fn with_content(
        &self,
        call: &Call<'_>,
        path: &MemoryPath,
        text: &str,
    ) -> Result<Self, Error> {
        let Some(Passage { old, new }) = &self.passage else { return Ok(self.clone()) };
        let refused = |message: String, field: &str, accepted: &str| {
            Err(Error::at(Code::InvalidInput, message, field, accepted.to_owned()))
        };
        let memory = Memory::read(path, text)?;
        let content = match replace_passage(memory.content, old, new) {
            Ok(content) => content,
            Err(occurrences) => {
                let place = format!("the content of `{path}`");
                let message = occurrences.message(&place, &call.listed("stores", "get_memory"));
                return refused(message, "old_text", "a passage that occurs once");
            }
        };
        let length = content.chars().count();
        if length > MAX_CONTENT {
            let message = format!(
                "with this change the content would have {length} characters, and {MAX_CONTENT} are \
                 allowed: add another memory instead"
            );
            return refused(message, "new_text", "a shorter text");
        }
        if content.trim().is_empty() {
            let message = format!(
                "the change would leave `{path}` without text: call `{}` instead",
                call.listed("stores", "remove_memory")
            );
            return refused(message, "new_text", "a text that is not blank");
        }
        Ok(Self { content: Some(content), passage: None, ..self.clone() })
    }

    /// Whether the update would leave this memory unchanged.
    fn is_in(&self, memory: &Memory<'_>) -> bool {
        let Memory { content, metadata } = memory;
        self.content.as_ref().is_none_or(|new| new == content)
            && self.tags.as_ref().is_none_or(|new| *new == metadata.tags)
            && self.citations.as_ref().is_none_or(|new| *new == metadata.citations)
            && self.expires_at.is_none_or(|new| new == metadata.expires_at)
    }
}

impl<'a> Memory<'a> {
    /// Reads a memory from the text of its file.
    ///
    /// # Errors
    ///
    /// `CORRUPTED_DATA`, with the line, if the front matter is not valid, or if the value of one of
    /// our keys has the wrong type.
    pub fn read(path: &MemoryPath, text: &'a str) -> Result<Self, Error> {
        let (memory, damage) = Self::read_in_part(path, text);
        damage.map_or(Ok(memory), Err)
    }

    /// Reads the valid parts of a memory. Also returns the error that [`read`](Self::read) would
    /// return, if there is one. If the front matter is not valid YAML, the content is the whole
    /// text.
    pub fn read_in_part(path: &MemoryPath, text: &'a str) -> (Self, Option<Error>) {
        let (front, mut damage) = FrontMatter::read_in_part(text);
        let created = written(&front, &CREATED);
        let updated = written(&front, &UPDATED);
        known(moment(&front, "created_at", start_of_day), &mut damage);
        known(moment(&front, "updated_at", start_of_day), &mut damage);
        let metadata = Metadata {
            created_at: created.and_then(moment_of),
            updated_at: updated.and_then(moment_of),
            tags: known(texts(&front, "tags"), &mut damage),
            source: front.get("source").and_then(Node::text).map(str::to_owned),
            expires_at: known(moment(&front, "expires_at", end_of_day), &mut damage),
            citations: known(texts(&front, "citations"), &mut damage),
            written: created.or(updated),
            names: ["title", "aliases", "alias"]
                .iter()
                .flat_map(|key| texts(&front, key).unwrap_or_default())
                .collect(),
        };
        let damage = damage.map(|error| Error::damaged(&path.file(), &error));
        (Self { content: front.body(), metadata }, damage)
    }
}

/// Returns the moment at which something was written. For a day, it is the beginning of the day in
/// UTC.
fn moment_of(written: Written) -> Option<Timestamp> {
    match written {
        Written::At(moment) => Some(moment),
        Written::On(day) => start_of_day(day),
    }
}

/// Returns the value, or its default after an error. `damage` gets the first error.
fn known<T: Default>(read: Result<T, YamlError>, damage: &mut Option<YamlError>) -> T {
    read.unwrap_or_else(|error| {
        damage.get_or_insert(error);
        T::default()
    })
}

/// Returns the text of the file of a new memory.
pub(super) fn new_text(content: &str, metadata: &Metadata) -> String {
    document(&keys(metadata), content)
}

/// Returns the text of a file that a person wrote, with front matter added if there is none.
///
/// # Errors
///
/// `CORRUPTED_DATA` as for [`Memory::read`].
pub(super) fn text_of_person(
    path: &MemoryPath,
    text: &str,
    now: Timestamp,
) -> Result<String, Error> {
    Memory::read(path, text)?;
    let front = FrontMatter::read(text).map_err(|error| Error::damaged(&path.file(), &error))?;
    if front.is_there() {
        return Ok(text.to_owned());
    }
    let metadata = Metadata {
        created_at: Some(now),
        updated_at: Some(now),
        source: Some(OF_PEOPLE.to_owned()),
        ..Metadata::default()
    };
    Ok(with_front_matter(text, &keys(&metadata)))
}

/// Returns the text of a file that a person edited. `updated_at` becomes `now` unless the person
/// changed it.
///
/// # Errors
///
/// `CORRUPTED_DATA` as for [`Memory::read`].
pub(super) fn edited_text(
    path: &MemoryPath,
    before: &str,
    text: &str,
    now: Timestamp,
) -> Result<String, Error> {
    let text = text_of_person(path, text, now)?;
    let metadata = Memory::read(path, &text)?.metadata;
    // The earlier text may have errors that the person is repairing, so its errors are ignored.
    let earlier = Memory::read(path, before).ok().and_then(|memory| memory.metadata.updated_at);
    if text == before || metadata.updated_at != earlier {
        return Ok(text);
    }
    let updated_at = metadata.created_at.map_or(now, |created_at| now.max(created_at));
    let damaged = |error: YamlError| Error::damaged(&path.file(), &error);
    let front = FrontMatter::read(&text).map_err(damaged)?;
    let change = [("updated_at", Some(New::plain(updated_at)))];
    let splices = front.change(&change, None).map_err(damaged)?;
    Ok(Splice::all_of_text(&splices, &text))
}

/// Returns all front matter keys of a memory, in the order of the program that defined the format
/// (spec 003).
fn keys(metadata: &Metadata) -> Vec<KeyChange> {
    let moment = |at: Option<Timestamp>| at.map(New::plain);
    let citations = (!metadata.citations.is_empty()).then(|| New::texts(&metadata.citations));
    vec![
        ("created_at", moment(metadata.created_at)),
        ("updated_at", moment(metadata.updated_at)),
        ("tags", Some(New::texts(&metadata.tags))),
        ("source", metadata.source.as_ref().map(New::text)),
        ("expires_at", moment(metadata.expires_at)),
        ("citations", citations),
    ]
}

/// Returns the splices of an update. `None` if the memory already has all values of the update.
///
/// # Errors
///
/// `CORRUPTED_DATA` as for [`Memory::read`].
pub(super) fn updated(
    path: &MemoryPath,
    text: &str,
    update: &Update,
    now: Timestamp,
    source: &str,
) -> Result<Option<Vec<Splice>>, Error> {
    let memory = Memory::read(path, text)?;
    if update.is_in(&memory) {
        return Ok(None);
    }
    let damaged = |error: YamlError| Error::damaged(&path.file(), &error);
    let front = FrontMatter::read(text).map_err(damaged)?;
    let updated_at = memory.metadata.created_at.map_or(now, |created_at| now.max(created_at));
    let mut changes = if front.is_there() {
        vec![("updated_at", Some(New::plain(updated_at)))]
    } else {
        // A file that another program wrote gets all keys of a memory.
        keys(&Metadata {
            created_at: Some(now),
            updated_at: Some(now),
            source: Some(source.to_owned()),
            ..Metadata::default()
        })
    };
    let mut set = |key, value| match changes.iter_mut().find(|(other, _)| *other == key) {
        Some(change) => change.1 = value,
        None => changes.push((key, value)),
    };
    if let Some(tags) = &update.tags {
        set("tags", Some(New::texts(tags)));
    }
    if let Some(expires_at) = update.expires_at {
        set("expires_at", expires_at.map(New::plain));
    }
    if let Some(citations) = &update.citations {
        set("citations", (!citations.is_empty()).then(|| New::texts(citations)));
    }
    changes.retain(|(key, value)| value.is_some() || front.has(key));
    front.change(&changes, update.content.as_deref()).map(Some).map_err(damaged)
}

/// Estimates the number of tokens: a quarter of the characters, rounded up. The format prescribes
/// this estimate (spec 003).
pub(super) fn token_estimate(content: &str) -> u64 {
    (content.trim().chars().count() as u64).div_ceil(4)
}

/// Parses a moment in a file: RFC 3339, or a date, which `of_date` converts to a moment.
fn parse_moment(text: &str, of_date: fn(Date) -> Option<Timestamp>) -> Option<Timestamp> {
    Timestamp::parse_stored(text).or_else(|| Date::parse(text).and_then(of_date))
}

fn start_of_day(date: Date) -> Option<Timestamp> {
    Timestamp::parse_stored(&format!("{date}T00:00:00Z"))
}

/// Returns the last millisecond of a day.
fn end_of_day(date: Date) -> Option<Timestamp> {
    Timestamp::parse_stored(&format!("{date}T23:59:59.999Z"))
}

/// Returns the first valid date that one of these keys has.
fn written(front: &FrontMatter<'_>, keys: &[&str]) -> Option<Written> {
    let mut texts = keys.iter().filter_map(|key| front.get(key)?.text());
    texts.find_map(|text| parse_written(text.trim()))
}

/// Parses a day, or a day with a time and a zone. Spaces before the time and the zone are allowed.
/// If the zone is a name in brackets without an offset, only the day counts.
fn parse_written(text: &str) -> Option<Written> {
    if let Some(day) = Date::parse(text) {
        return Some(Written::On(day));
    }
    let (day, time) = text.split_at_checked(10)?;
    let time = time.replace(' ', "").replace("UTC", "Z").replace("GMT", "Z");
    let time = time.strip_prefix('T').unwrap_or(&time);
    match Timestamp::parse_stored(&format!("{day}T{time}")) {
        Some(moment) => Some(Written::At(moment)),
        None if time.ends_with(']') => Date::parse(day).map(Written::On),
        None => None,
    }
}

fn moment(
    front: &FrontMatter<'_>,
    key: &str,
    of_date: fn(Date) -> Option<Timestamp>,
) -> Result<Option<Timestamp>, YamlError> {
    let Some(node) = front.get(key) else { return Ok(None) };
    let moment = node.text().and_then(|text| parse_moment(text, of_date));
    let wrong = || YamlError {
        line: front.line_of(node),
        message: format!("`{key}` is no timestamp: write one, such as `2025-01-20T10:00:00.000Z`"),
    };
    moment.map(Some).ok_or_else(wrong)
}

/// Returns the list of texts of a key. A single text counts as a list of one.
fn texts(front: &FrontMatter<'_>, key: &str) -> Result<Vec<String>, YamlError> {
    let Some(node) = front.get(key) else { return Ok(Vec::new()) };
    let items = node.items().unwrap_or(std::slice::from_ref(node));
    let text = |item: &Node| {
        item.text().map(str::to_owned).ok_or_else(|| YamlError {
            line: front.line_of(item),
            message: format!("`{key}` is no list of texts"),
        })
    };
    items.iter().filter(|item| !is_blank(item)).map(text).collect()
}

/// Whether an item of a list is empty, as after `- ` or between two commas.
fn is_blank(item: &Node) -> bool {
    item.is_null() || item.text().is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_other_programs_are_read() {
        for (text, moment) in [
            ("2024-01-01T10:00", "2024-01-01T10:00:00.000Z"),
            ("2024-01-01 10:00", "2024-01-01T10:00:00.000Z"),
            ("2024-01-01 10:00:30.5", "2024-01-01T10:00:30.500Z"),
            ("2024-01-01T10:00:00Z", "2024-01-01T10:00:00.000Z"),
            ("2024-01-01T10:00:00+02:00", "2024-01-01T08:00:00.000Z"),
            ("2024-01-01 10:00:00 +0200", "2024-01-01T08:00:00.000Z"),
            ("2024-01-01 10:00:00 -05:00", "2024-01-01T15:00:00.000Z"),
            ("2024-01-01 10:00:00 UTC", "2024-01-01T10:00:00.000Z"),
            ("2024-01-01T10:00:00+09:00[Asia/Tokyo]", "2024-01-01T01:00:00.000Z"),
            ("2024-01-01 10:00 +09:00 [Asia/Tokyo]", "2024-01-01T01:00:00.000Z"),
        ] {
            let read = parse_written(text).and_then(moment_of).map(|at| at.to_string());
            assert_eq!(read.as_deref(), Some(moment), "{text}");
        }
        let day = Date::parse("2024-01-01").expect("a date");
        for text in ["2024-01-01", "2024-01-01T10:00[Asia/Tokyo]", "2024-01-01 10:00 [Asia/Tokyo]"]
        {
            assert_eq!(parse_written(text), Some(Written::On(day)), "{text}");
        }
        for none in
            ["", "yesterday", "2024", "2024-02-30", "{{date}}", "2024-01-01 at noon", "ääääääääää"]
        {
            assert_eq!(parse_written(none), None, "{none}");
        }
    }
}
