//! Paths of memories and categories: `segment/segment/...`, relative to the root of a store.

use std::fmt;

use super::spelling::{marked, spelled};

/// The maximum number of segments of a path, including the slug of a memory.
const MAX_DEPTH: usize = 10;

/// The maximum length of a segment in bytes. File systems allow 255 bytes for a name with `.md`.
const MAX_SEGMENT: usize = 200;

const EXTENSION: &str = ".md";

/// The file name of a category's index.
pub(super) const INDEX: &str = "index.yaml";

/// The nearest valid path to a text that is not a valid path. Empty if no path is near.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nearest(pub String);

/// Why a file of a person's folder cannot become a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileNameError {
    /// The extension is not that of a Markdown file.
    NotMarkdown,
    /// A segment of the path is blank, `.` or `..`.
    NoName,
    TooDeep,
}

/// The path of a category. Empty for the root.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CategoryPath(String);

/// The path of a memory: the path of its category and its slug.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MemoryPath(String);

impl CategoryPath {
    pub const ROOT: Self = Self(String::new());

    /// Parses the path of a category.
    ///
    /// # Errors
    ///
    /// The nearest valid path.
    pub fn parse(text: &str) -> Result<Self, Nearest> {
        checked(text).map(Self)
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path of the category's index in the store.
    pub fn index(&self) -> String {
        join(&self.0, INDEX)
    }

    /// Returns the parent category. `None` for the root.
    pub fn parent(&self) -> Option<Self> {
        (!self.is_root()).then(|| Self(parent(&self.0).to_owned()))
    }

    /// Returns the number of segments. 0 for the root.
    pub fn depth(&self) -> usize {
        if self.is_root() { 0 } else { 1 + self.0.matches('/').count() }
    }

    /// Returns the category with this segment directly in this category.
    pub fn child(&self, segment: &str) -> Self {
        Self(join(&self.0, segment))
    }

    /// Returns the last segment. Empty for the root.
    pub fn segment(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the path of a memory directly in this category.
    pub fn memory(&self, slug: &str) -> MemoryPath {
        MemoryPath(join(&self.0, slug))
    }

    /// Returns the path of the memory that a file of a folder becomes if the folder is imported
    /// into this category: the nearest valid path to `name`, the path of the file in the folder.
    pub fn memory_of_file(&self, name: &str) -> Result<MemoryPath, FileNameError> {
        let stem = markdown_stem(name).ok_or(FileNameError::NotMarkdown)?;
        let mut path = self.0.clone();
        for segment in stem.split('/') {
            match nearest_segment(segment) {
                near if near.is_empty() => return Err(FileNameError::NoName),
                near => path = join(&path, &near),
            }
        }
        let is_valid = path.split('/').count() <= MAX_DEPTH;
        if is_valid { Ok(MemoryPath(path)) } else { Err(FileNameError::TooDeep) }
    }

    /// Returns the last segment of a path. `None` if the path is not directly in this category or
    /// the segment is not valid.
    pub fn segment_of<'a>(&self, path: &'a str) -> Option<&'a str> {
        let rest =
            if self.is_root() { path } else { path.strip_prefix(&self.0)?.strip_prefix('/')? };
        is_segment(rest).then_some(rest)
    }
}

impl MemoryPath {
    /// Parses the path of a memory.
    ///
    /// # Errors
    ///
    /// The nearest valid path.
    pub fn parse(text: &str) -> Result<Self, Nearest> {
        checked(text).map(Self)
    }

    pub fn category(&self) -> CategoryPath {
        CategoryPath(parent(&self.0).to_owned())
    }

    pub fn slug(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the path with a hash of `name` at the end of its slug, to tell apart files that
    /// would get the same path.
    pub fn marked(&self, name: &str) -> Self {
        self.category().memory(&marked(self.slug(), name, MAX_SEGMENT))
    }

    /// Returns the path of the memory's file in the store.
    pub fn file(&self) -> String {
        format!("{}{EXTENSION}", self.0)
    }
}

impl fmt::Display for CategoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for MemoryPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the slug of the memory in a file with this name. `None` if the file is not a memory.
pub(super) fn slug_of_file(name: &str) -> Option<&str> {
    name.strip_suffix(EXTENSION).filter(|slug| is_segment(slug))
}

/// Returns the path of a Markdown file without its extension. `None` for another file.
fn markdown_stem(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    let is_markdown = ["md", "markdown"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    is_markdown.then_some(stem)
}

/// Whether a path is that of a memory's file or of an index.
pub(super) fn is_file(path: &str) -> bool {
    match path.strip_suffix(EXTENSION) {
        Some(memory) => MemoryPath::parse(memory).is_ok(),
        None => {
            path == INDEX
                || path
                    .strip_suffix(INDEX)
                    .and_then(|path| path.strip_suffix('/'))
                    .is_some_and(|category| CategoryPath::parse(category).is_ok())
        }
    }
}

/// Whether a text is a valid segment: words of lower-case letters and digits, joined by hyphens.
pub(super) fn is_segment(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    text.len() <= MAX_SEGMENT && text.split('-').all(is_word) && !is_device(text)
}

/// Whether the segment is a device name such as `nul`. Windows reserves these names, also with an
/// extension.
fn is_device(segment: &str) -> bool {
    (3..=4).contains(&segment.len()) && crate::names::name_error(segment).is_some()
}

fn join(category: &str, name: &str) -> String {
    if category.is_empty() { name.to_owned() } else { format!("{category}/{name}") }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn checked(text: &str) -> Result<String, Nearest> {
    let is_valid = text.split('/').count() <= MAX_DEPTH && text.split('/').all(is_segment);
    if is_valid { Ok(text.to_owned()) } else { Err(Nearest(nearest(text))) }
}

/// Returns the nearest valid path to a text: each segment in its valid spelling. If there are too
/// many segments, the last ones are joined by hyphens. Empty if no segment has a spelling.
fn nearest(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_suffix(EXTENSION).unwrap_or(text).replace('\\', "/");
    let segments = text.split('/').map(nearest_segment).filter(|segment| !segment.is_empty());
    let mut segments: Vec<String> = segments.collect();
    if segments.len() > MAX_DEPTH {
        let last = segments.split_off(MAX_DEPTH - 1).join("-");
        segments.push(nearest_segment(&last));
    }
    segments.join("/")
}

/// Returns the nearest valid segment to a text. Empty if the text is blank, `.` or `..`.
fn nearest_segment(text: &str) -> String {
    if matches!(text.trim(), "." | "..") {
        return String::new();
    }
    let segment = spelled(text, MAX_SEGMENT);
    if is_device(&segment) { format!("{segment}-1") } else { segment }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_lower_case_words_joined_by_hyphens() {
        let nine = "a/".repeat(9);
        for good in ["a", "a/b-c/2025", &format!("{nine}b"), &"a".repeat(200)] {
            assert!(MemoryPath::parse(good).is_ok(), "{good}");
        }
        for (bad, near) in [
            ("", ""),
            ("/", ""),
            ("..", ""),
            ("a/../b", "a/b"),
            ("/etc/passwd", "etc/passwd"),
            ("A/My File.md", "a/my-file"),
            ("a\\b", "a/b"),
            ("a//b/", "a/b"),
            ("a--b_c-", "a-b-c"),
            ("é", "e"),
            ("café/x", "cafe/x"),
            ("n/プログラム", "n/puroguramu"),
            ("n/!!!", "n/e84c53"),
            ("a\u{0}b", "a-b"),
            ("aux/nul", "aux-1/nul-1"),
            (&format!("{nine}a/b"), &format!("{nine}a-b")),
            (&format!("{nine}a/b/é.md"), &format!("{nine}a-b-e")),
            (&"a".repeat(201), &format!("{}-a92efd", "a".repeat(193))),
        ] {
            assert!(MemoryPath::parse(bad).is_err(), "{bad}");
            assert_eq!(nearest(bad), near, "{bad}");
        }
    }

    #[test]
    fn a_path_knows_its_category_and_its_files() {
        let path = MemoryPath::parse("a/b/c").expect("a path");
        let category = path.category();
        assert_eq!((path.slug(), path.file().as_str()), ("c", "a/b/c.md"));
        assert_eq!((category.as_str(), category.depth()), ("a/b", 2));
        assert_eq!(category.index(), "a/b/index.yaml");
        assert_eq!(category.segment_of("a/b/c"), Some("c"));
        for other in ["a/b", "a/bc", "a/b/c/d", "b/c", "a/b/C"] {
            assert_eq!(category.segment_of(other), None, "{other}");
        }
        assert_eq!(CategoryPath::ROOT.index(), "index.yaml");
        assert_eq!(CategoryPath::ROOT.segment_of("a"), Some("a"));
        assert_eq!(
            (slug_of_file("a.md"), slug_of_file("A.md"), slug_of_file("a")),
            (Some("a"), None, None)
        );
    }
    #[test]
    fn a_file_of_a_folder_becomes_the_memory_with_the_nearest_name() {
        let category = CategoryPath::parse("in").expect("a path");
        let near = |name: &str| category.memory_of_file(name).map(|path| path.to_string());
        for (name, path) in [
            ("a.md", "in/a"),
            ("My Notes/Deploy Plan.MD", "in/my-notes/deploy-plan"),
            ("v1.2.markdown", "in/v1-2"),
            ("con/x.md", "in/con-1/x"),
            ("a\\b.md", "in/a-b"),
            ("日本/ü.md", "in/riben/u"),
            ("1/2/3/4/5/6/7/8/9.md", "in/1/2/3/4/5/6/7/8/9"),
        ] {
            assert_eq!(near(name).as_deref(), Ok(path), "{name}");
        }
        for (name, error) in [
            ("a.txt", Err(FileNameError::NotMarkdown)),
            ("md", Err(FileNameError::NotMarkdown)),
            ("a.md/b", Err(FileNameError::NotMarkdown)),
            ("../a.md", Err(FileNameError::NoName)),
            ("a/.md", Err(FileNameError::NoName)),
            ("1/2/3/4/5/6/7/8/9/10.md", Err(FileNameError::TooDeep)),
        ] {
            assert_eq!(near(name), error, "{name}");
        }
        assert_eq!(
            CategoryPath::ROOT.memory_of_file("README.md"),
            Ok(MemoryPath("readme".to_owned()))
        );
    }
}
