//! Paths below `/memories`, as callers name them.

use std::fmt;

use super::error::Error;
use crate::storage::path::segments;

/// The directory that callers see as the root.
const ROOT: &str = "/memories";

/// The maximum number of characters of a path in a call.
pub(super) const MAX_PATH: u32 = 4_096;

/// The path of a file or a directory below `/memories`, or `/memories` itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FilePath(String);

impl FilePath {
    pub const ROOT: Self = Self(String::new());

    /// Parses the path in the argument `field`. Ignores a slash at the end, because the listing
    /// shows directories with one.
    ///
    /// # Errors
    ///
    /// `INVALID_PATH` if the path is not below `/memories`, if some file system cannot store it, or
    /// if a segment is hidden. Also if it has an encoded `.`, `/` or `\`, because a program that
    /// decodes it would open another path.
    pub fn parse(text: &str, field: &str) -> Result<Self, Error> {
        let refused = |reason: &str| Error::invalid_file_path(text, field, reason);
        let below = text.strip_prefix(ROOT).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        let Some(below) = below else { return Err(Error::outside(text, field)) };
        let below = below.strip_suffix('/').unwrap_or(below);
        let Some(below) = below.strip_prefix('/') else { return Ok(Self::ROOT) };
        let lower = below.to_ascii_lowercase();
        if let Some(code) = ["%2e", "%2f", "%5c"].iter().find(|code| lower.contains(**code)) {
            return Err(refused(&format!("has the encoded character `{code}`")));
        }
        let path = Self(below.to_owned());
        match segments(below) {
            Err(reason) => Err(refused(reason)),
            Ok(segments) if segments.iter().any(|name| is_hidden(name)) => {
                Err(refused("has a hidden segment, which begins with a dot"))
            }
            Ok(_) => Ok(path),
        }
    }

    /// Returns the path of an entry that storage has listed in this directory. `None` if the name
    /// is not valid in a path.
    pub fn listed(&self, name: &str) -> Option<Self> {
        let path = self.child(name);
        segments(&path.0).is_ok().then_some(path)
    }

    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the path below `/memories`, without a leading slash. Empty for `/memories` itself.
    pub fn below_root(&self) -> &str {
        &self.0
    }

    /// Returns the path of the entry with this name in this directory.
    pub fn child(&self, name: &str) -> Self {
        if self.is_root() { Self(name.to_owned()) } else { Self(format!("{}/{name}", self.0)) }
    }

    /// Returns the directories above the path, the outermost first and without `/memories`, and
    /// then the path itself.
    pub fn way(&self) -> impl Iterator<Item = Self> {
        let ends = self.0.match_indices('/').map(|(at, _)| at);
        let ends = ends.chain((!self.is_root()).then_some(self.0.len()));
        ends.map(|end| Self(self.0[..end].to_owned()))
    }

    /// Returns the part of a path below this directory. `None` if the path is not below the
    /// directory.
    pub fn rest<'p>(&self, path: &'p Self) -> Option<&'p str> {
        if self.is_root() { Some(&path.0) } else { path.0.strip_prefix(&self.0)?.strip_prefix('/') }
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { f.write_str(ROOT) } else { write!(f, "{ROOT}/{}", self.0) }
    }
}

/// Whether a name begins with a dot. Views leave such entries out: other programs keep their own
/// files there.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_memories_and_names_nothing_hidden() {
        for (text, below) in [
            ("/memories", ""),
            ("/memories/", ""),
            ("/memories/a b.md", "a b.md"),
            ("/memories/notes/", "notes"),
            ("/memories/%2", "%2"),
            ("/memories/日記/é.txt", "日記/é.txt"),
        ] {
            let path = FilePath::parse(text, "path").unwrap_or_else(|_| panic!("{text}"));
            assert_eq!(path.below_root(), below);
        }
        for text in [
            "",
            "/",
            "memories/a",
            "/memoriesa",
            "/memory/a",
            "/memories//a",
            "/memories/a//",
            "/memories/../a",
            "/memories/a/../../b",
            "/memories/.",
            "/memories/.git/config",
            "/memories/.agent-memory/lock",
            "/memories/a/.hidden",
            "/memories/%2e%2e/a",
            "/memories/a%2Fb",
            "/memories/..%5Ca",
            "/memories/a\\b",
            "/memories/c:",
            "/memories/nul",
            "/memories/a.",
            "/memories/a ",
            "/memories/a\nb",
            "/memories\0",
        ] {
            assert!(FilePath::parse(text, "path").is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_way_to_a_path_begins_outside() {
        let path = FilePath("a/b/c".into());
        let way: Vec<String> = path.way().map(|path| path.to_string()).collect();
        assert_eq!(way, ["/memories/a", "/memories/a/b", "/memories/a/b/c"]);
        assert_eq!(FilePath::ROOT.way().count(), 0);
        assert_eq!(FilePath("a".into()).rest(&path), Some("b/c"));
        assert_eq!(FilePath("a/bc".into()).rest(&FilePath("a/b".into())), None);
    }
}
