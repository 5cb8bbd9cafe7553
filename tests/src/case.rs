//! Cases: how they are read, and what stands for what in them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, iter};

use serde::Deserialize;
use serde_json::Value;

use crate::product::repository_root;

/// A document's bytes by its path below `.github/agent-memory/`.
pub type Documents = BTreeMap<String, Vec<u8>>;

/// One file below `tests/conformance/cases`.
#[derive(Debug)]
pub struct Case {
    /// Its path below `cases/`, without `.json`.
    pub name: String,
    /// Where it is.
    pub file: PathBuf,
    /// What it says.
    pub text: CaseText,
}

/// A case as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct CaseText {
    pub description: String,
    #[serde(default)]
    pub clock: CaseClock,
    #[serde(default = "first_seed")]
    pub seed: u64,
    #[serde(default = "sessions_alone")]
    pub toolsets: Vec<String>,
    #[serde(default)]
    pub given: StorageText,
    #[serde(default)]
    pub faults: Vec<Fault>,
    pub steps: Vec<Step>,
    pub then: Option<StorageText>,
}

/// The clock of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct CaseClock {
    pub now: String,
    pub step_ms: u32,
    pub utc_offset_minutes: i32,
}

impl Default for CaseClock {
    fn default() -> Self {
        Self { now: "2025-01-20T10:00:00.000Z".into(), step_ms: 1000, utc_offset_minutes: 0 }
    }
}

/// What storage holds.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StorageText {
    repo: BTreeMap<String, ContentsText>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ContentsText {
    Text(String),
    Lines { lines: Vec<String> },
    File { file: String },
    Base64 { base64: String },
    Repeated(Repeated),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repeated {
    repeat: String,
    times: usize,
    #[serde(default)]
    before: String,
    #[serde(default)]
    after: String,
}

/// A storage error to inject.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct Fault {
    pub step: usize,
    pub operation: Operation,
    #[serde(default)]
    pub nth: usize,
    pub error: String,
    #[serde(default)]
    pub applied: usize,
}

/// What can fail.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are those of `wit/storage.wit`")]
pub enum Operation {
    Open,
    Read,
    List,
    Lock,
    Commit,
}

/// One call and what it answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct Step {
    pub call: String,
    pub arguments: Value,
    pub result: Option<Value>,
    pub error: Option<Value>,
    #[serde(default)]
    pub says: Vec<String>,
    pub failure: Option<String>,
}

fn first_seed() -> u64 {
    1
}

fn sessions_alone() -> Vec<String> {
    vec!["sessions".into()]
}

/// `tests/conformance`.
pub fn directory() -> PathBuf {
    repository_root().join("tests/conformance")
}

/// Every case, in the order of their names.
pub fn load_all() -> Vec<Case> {
    let root = directory().join("cases");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no case below {}", root.display());
    files.into_iter().map(|file| load(&root, file)).collect()
}

fn find(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the directory of cases") {
        let path = entry.expect("an entry of the directory of cases").path();
        if path.is_dir() {
            find(&path, files);
        } else {
            assert!(path.extension().is_some_and(|e| e == "json"), "no case: {}", path.display());
            files.push(path);
        }
    }
}

fn load(root: &Path, file: PathBuf) -> Case {
    let text = fs::read_to_string(&file).expect("a case is readable");
    let relative = file.strip_prefix(root).expect("below the root").with_extension("");
    let name = relative.to_str().expect("names of cases are ASCII").to_owned();
    match serde_json::from_str(&text) {
        Ok(text) => Case { name, file, text },
        Err(error) => panic!("{}: {error}", file.display()),
    }
}

impl Step {
    /// Whether it calls a tool, by its own or its qualified name.
    pub fn calls(&self, tool: &str) -> bool {
        let toolset = self.call.strip_suffix(tool);
        toolset.is_some_and(|toolset| toolset.is_empty() || toolset.ends_with('_'))
    }
}

impl Case {
    /// Whether a step calls a tool.
    pub fn calls(&self, tool: &str) -> bool {
        self.text.steps.iter().any(|step| step.calls(tool))
    }

    /// The documents before the first step.
    pub fn given(&self) -> Documents {
        self.text.given.documents()
    }

    /// The documents after the last step.
    pub fn then(&self) -> Documents {
        self.text.then.as_ref().unwrap_or(&self.text.given).documents()
    }
}

impl StorageText {
    fn documents(&self) -> Documents {
        self.repo.iter().map(|(path, contents)| (path.clone(), contents.bytes())).collect()
    }
}

impl ContentsText {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Lines { lines } => {
                lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect::<String>().into()
            }
            Self::File { file } => {
                let path = directory().join("documents").join(file);
                fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            }
            Self::Base64 { base64 } => from_base64(base64),
            Self::Repeated(repeated) => repeated.text().into_bytes(),
        }
    }
}

impl Repeated {
    fn text(&self) -> String {
        format!("{}{}{}", self.before, self.repeat.repeat(self.times), self.after)
    }
}

/// What the placeholders of a case stand for on one runner.
#[derive(Clone, Debug)]
pub struct Places {
    /// The granted repository.
    pub repo: String,
    /// A directory that is not granted.
    pub elsewhere: String,
}

impl Places {
    /// The value with every placeholder replaced.
    pub fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.fill_text(text)),
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(fields) if fields.contains_key("repeat") => {
                match Repeated::deserialize(value) {
                    Ok(repeated) => Value::String(repeated.text()),
                    Err(error) => panic!("not a repeated text: {error}: {value}"),
                }
            }
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(name, field)| (name.clone(), self.fill(field))).collect(),
            ),
            _ => value.clone(),
        }
    }

    /// The text with every placeholder replaced.
    pub fn fill_text(&self, text: &str) -> String {
        text.replace("${repo}", &self.repo).replace("${elsewhere}", &self.elsewhere)
    }

    /// The text with what this runner's paths are put back into placeholders.
    pub fn hide(&self, text: &str) -> String {
        text.replace(&self.repo, "${repo}").replace(&self.elsewhere, "${elsewhere}")
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    let sextet = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => panic!("`{}` is not Base64", byte as char),
    };
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(sextet).collect();
    let group = |four: &[u8]| {
        let number = four
            .iter()
            .chain(iter::repeat(&0))
            .take(4)
            .fold(0_u32, |sum, digit| sum << 6 | u32::from(*digit));
        number.to_be_bytes()[1..four.len()].to_vec()
    };
    digits.chunks(4).flat_map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_with_and_without_padding() {
        assert_eq!(from_base64("//4A"), [0xff, 0xfe, 0x00]);
        assert_eq!(from_base64("/w=="), [0xff]);
        assert_eq!(from_base64("aGVsbG8="), b"hello");
    }

    #[test]
    fn placeholders_are_replaced_wherever_a_text_stands() {
        let places = Places { repo: "/r".into(), elsewhere: "/e".into() };
        let value = serde_json::json!({"a": ["${repo}/x", {"repeat": "ab", "times": 2}], "b": 1});
        assert_eq!(places.fill(&value), serde_json::json!({"a": ["/r/x", "abab"], "b": 1}));
    }
}
