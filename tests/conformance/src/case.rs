//! Reading cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, iter};

use agent_memory_setting_values::ZoneOffsets;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::places::Repeated;
pub use crate::places::{Ids, Places};
pub use crate::step::{Completed, Request, Step};
use crate::workspace::repository_root;

/// The bytes of documents by path: the path below `.github/agent-memory/` or `/memories/`, the file
/// name in the directory of records, or the name of a store and the path in it. Databases are not
/// documents.
pub type Documents = BTreeMap<String, Vec<u8>>;

/// A case: one file below `tests/conformance/cases`, in one format of records.
#[derive(Clone, Debug)]
pub struct Case {
    /// The path below `cases/`, without `.json`. If it runs in both formats, `@json` or `@sqlite`
    /// follows.
    pub name: String,
    /// The path of the file.
    pub file: PathBuf,
    /// The format of records. `None` for a case of a toolset without records.
    pub format: Option<Format>,
    /// The contents of the file.
    pub text: Arc<CaseText>,
}

/// The formats of `records`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Format {
    Json,
    Sqlite,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 2] = [Self::Json, Self::Sqlite];

    /// The value of the setting `--records-format`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sqlite => "sqlite",
        }
    }
}

/// The contents of a case's file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct CaseText {
    pub description: String,
    #[serde(default)]
    pub clock: CaseClock,
    #[serde(default = "first_seed")]
    pub seed: u64,
    toolsets: Option<Vec<String>>,
    #[serde(default)]
    pub caps: Caps,
    only: Option<Only>,
    #[serde(default)]
    settings: Map<String, Value>,
    #[serde(default)]
    pub models: Vec<String>,
    pub embedder: Option<Embedder>,
    #[serde(default)]
    pub caller: CaseCaller,
    #[serde(default)]
    given: Option<StorageText>,
    #[serde(default)]
    pub faults: Vec<Fault>,
    pub steps: Vec<Step>,
    then: Option<StorageText>,
}

/// The agents and stores that the caller of a case may use. Without a list, it may use all.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct CaseCaller {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agents: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stores: Option<Vec<String>>,
}

/// The model of a case's embedder, and its vectors by text.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct Embedder {
    pub model: String,
    #[serde(default)]
    pub vectors: BTreeMap<String, Vec<f32>>,
}

/// The limits of an agent's records. A missing limit has the host's default.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct Caps {
    pub max_bytes: Option<u64>,
    pub max_memories: Option<u64>,
}

/// The only format that a case of `records` runs in.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Only {
    format: Format,
    /// For the reader of the case.
    #[serde(rename = "reason")]
    _reason: String,
}

/// The clock of a case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct CaseClock {
    pub now: String,
    pub step_ms: u32,
    pub utc_offset_minutes: i32,
    pub time_zone: Option<String>,
}

impl Default for CaseClock {
    fn default() -> Self {
        let now = "2025-01-20T10:00:00.000Z".into();
        Self { now, step_ms: 1000, utc_offset_minutes: 0, time_zone: None }
    }
}

impl CaseClock {
    /// The time zone as the context of a call has it.
    ///
    /// # Panics
    ///
    /// If there is no time zone of the name.
    pub fn zone(&self) -> Value {
        let Some(name) = &self.time_zone else {
            return json!({ "offset_minutes": self.utc_offset_minutes });
        };
        let zone = agent_memory_setting_values::time_zone(name);
        let ZoneOffsets { first, changes } = ZoneOffsets::from(&zone.expect("a time zone"));
        let change = |(at, offset)| json!({ "at": at, "offset_minutes": offset });
        let changes: Vec<_> = changes.into_iter().map(change).collect();
        json!({ "offset_minutes": first, "changes": changes })
    }
}

/// The contents of storage: documents of a repository, files of the directory of records, the
/// database of layers, files of stores, or memory files.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum StorageText {
    Repo(BTreeMap<String, ContentsText>),
    Records(BTreeMap<String, ContentsText>),
    Layers(DatabaseText),
    Stores(BTreeMap<String, BTreeMap<String, ContentsText>>),
    Files(BTreeMap<String, ContentsText>),
}

/// A database: the statements that make it, or what queries answer.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct DatabaseText {
    sql: Vec<String>,
    rows: Vec<QueryText>,
}

/// A query of a database and the rows that it answers.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "`case.schema.json` documents each")]
pub struct QueryText {
    pub query: String,
    pub rows: Vec<Vec<Value>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum ContentsText {
    Text(String),
    Lines { lines: Vec<String> },
    File { file: String },
    Base64 { base64: String },
    Repeated(Repeated),
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

/// A storage operation that can fail.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "the names are those of `wit/storage`")]
pub enum Operation {
    Open,
    ListPlaces,
    CreatePlace,
    Stat,
    Read,
    List,
    Lock,
    Commit,
    OpenDatabase,
    BeginRead,
    BeginWrite,
    Query,
    Execute,
    CommitTransaction,
}

fn first_seed() -> u64 {
    1
}

/// The directory `tests/conformance`.
pub fn directory() -> PathBuf {
    repository_root().join("tests/conformance")
}

/// Reads all cases, each in every format that it runs in, sorted by name.
pub fn load_all() -> Vec<Case> {
    let root = directory().join("cases");
    let mut files = Vec::new();
    find(&root, &mut files);
    files.sort();
    assert!(!files.is_empty(), "no case below {}", root.display());
    files.into_iter().flat_map(|file| load(&root, file)).collect()
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

fn load(root: &Path, file: PathBuf) -> Vec<Case> {
    let text = fs::read_to_string(&file).expect("a case is readable");
    let relative = file.strip_prefix(root).expect("below the root").with_extension("");
    let name = relative.to_str().expect("names of cases are ASCII").to_owned();
    let text: Arc<CaseText> = match serde_json::from_str(&text) {
        Ok(text) => Arc::new(text),
        Err(error) => panic!("{}: {error}", file.display()),
    };
    let formats: &[Format] = match &text.only {
        _ if !["records/", "memory/"].iter().any(|toolset| name.starts_with(toolset)) => {
            return vec![Case { name, file, format: None, text }];
        }
        Some(only) => &[only.format],
        None => &Format::ALL,
    };
    let in_format = |format: &Format| Case {
        name: format!("{name}@{}", format.name()),
        file: file.clone(),
        format: Some(*format),
        text: text.clone(),
    };
    formats.iter().map(in_format).collect()
}

impl Case {
    /// Whether a step calls a tool.
    pub fn calls(&self, tool: &str) -> bool {
        self.text.steps.iter().any(|step| step.calls(tool))
    }

    /// Whether the case keeps its data in a database, or converts to one. A step of another case may
    /// still use a database.
    pub fn needs_a_database(&self) -> bool {
        ["layers", "items"].contains(&self.toolset())
            || self.name.ends_with("@sqlite")
            || self.calls("convert_records")
    }

    /// Whether it is about follow-ups.
    pub fn has_follow_ups(&self) -> bool {
        !self.text.models.is_empty()
            || self.text.embedder.is_some()
            || self.text.steps.iter().any(|step| step.request.is_of_follow_ups())
    }

    /// Whether its caller may use only some agents or stores.
    pub fn has_bounded_caller(&self) -> bool {
        self.text.caller != CaseCaller::default()
    }

    /// Whether its time zone has a name.
    pub fn has_time_zone(&self) -> bool {
        self.text.clock.time_zone.is_some()
    }

    /// The name without the format, as rules and pages use it.
    pub fn plain_name(&self) -> &str {
        self.name.split('@').next().unwrap_or_default()
    }

    /// The mounted toolsets.
    pub fn toolsets(&self) -> Vec<String> {
        self.text.toolsets.clone().unwrap_or_else(|| vec![self.toolset().to_owned()])
    }

    /// The same case with other steps, and without expected contents of storage.
    pub fn with_steps(&self, steps: Vec<Step>) -> Self {
        let text = CaseText { steps, then: None, ..CaseText::clone(&self.text) };
        Self { text: Arc::new(text), ..self.clone() }
    }

    /// The same case with these toolsets mounted. It calls each tool by its qualified name. It expects
    /// no texts, because texts have the listed names of tools. `None` if the case itself chooses the
    /// toolsets.
    pub fn mounted_with(&self, toolsets: &[&str]) -> Option<Self> {
        if self.text.toolsets.is_some() {
            return None;
        }
        let mut text = CaseText::clone(&self.text);
        let prefix = format!("{}_", self.toolset());
        for step in &mut text.steps {
            step.says.clear();
            if let Request::Call { call, .. } = &mut step.request
                && !call.starts_with(&prefix)
            {
                *call = format!("{prefix}{call}");
            }
        }
        text.toolsets = Some(toolsets.iter().map(|name| (*name).to_owned()).collect());
        Some(Self { text: Arc::new(text), ..self.clone() })
    }

    /// The toolset whose folder it is in.
    pub fn toolset(&self) -> &str {
        self.name.split('/').next().unwrap_or_default()
    }

    /// The settings in the context of its calls.
    pub fn settings(&self) -> Value {
        let mut settings = json!({"toolsets": self.toolsets()});
        if !self.text.settings.is_empty() {
            settings[self.toolset()] = Value::Object(self.text.settings.clone());
        }
        if let Some(format) = self.format {
            let Caps { max_bytes, max_memories } = self.text.caps;
            let records = json!({
                "format": format.name(), "max_bytes": max_bytes, "max_memories": max_memories,
            });
            settings["records"] = records
                .as_object()
                .expect("an object")
                .clone()
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .collect();
        }
        settings
    }

    /// The documents before the first step, at the place of its toolset.
    pub fn given(&self) -> Documents {
        self.text.given.as_ref().map(|given| given.documents(self)).unwrap_or_default()
    }

    /// The names of the stores that are registered before the first step.
    pub fn given_stores(&self) -> Vec<&str> {
        match &self.text.given {
            Some(StorageText::Stores(stores)) => stores.keys().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// The store that a case of `stores` is about: the given one, the one of its first step, or the
    /// first of its caller.
    pub fn store(&self) -> &str {
        let named = self.text.steps.iter().find_map(|step| step.arguments()["store"].as_str());
        let reached = || self.text.caller.stores.as_ref()?.first().map(String::as_str);
        self.given_stores().first().copied().or(named).or_else(reached).unwrap_or("memory")
    }

    /// The statements that make the database of layers before the first step. Empty if there is no
    /// database.
    pub fn given_sql(&self) -> &[String] {
        match &self.text.given {
            Some(StorageText::Layers(database)) => &database.sql,
            _ => &[],
        }
    }

    /// The queries of the database of layers after the last step, with the expected rows.
    pub fn then_rows(&self) -> &[QueryText] {
        match &self.text.then {
            Some(StorageText::Layers(database)) => &database.rows,
            _ => &[],
        }
    }

    /// The expected documents after the last step. `None` if they are not compared: a case of
    /// `records` can check them by its calls instead.
    pub fn then(&self) -> Option<Documents> {
        match (&self.text.then, self.format) {
            _ if ["layers", "items"].contains(&self.toolset()) => None,
            (Some(then), _) => Some(then.documents(self)),
            (None, Some(_)) if self.toolset() == "memory" || self.text.given.is_none() => None,
            (None, _) => Some(self.given()),
        }
    }
}

impl StorageText {
    fn documents(&self, case: &Case) -> Documents {
        let (documents, toolset) = match self {
            Self::Stores(stores) => {
                assert_eq!(case.toolset(), "stores", "{}: stores of another", case.name);
                let files = |(name, files): (&String, &BTreeMap<String, ContentsText>)| {
                    let file = |(path, text): (&String, &ContentsText)| {
                        (format!("{name}/{path}"), text.bytes())
                    };
                    files.iter().map(file).collect::<Vec<_>>()
                };
                return stores.iter().flat_map(files).collect();
            }
            Self::Repo(documents) => (documents, None),
            Self::Records(documents) => (documents, Some("records")),
            Self::Files(documents) => (documents, Some("files")),
            Self::Layers(_) => {
                assert_eq!(case.toolset(), "layers", "{}: a database of another", case.name);
                return Documents::new();
            }
        };
        let of_case = Some(case.toolset()).filter(|of| ["records", "files"].contains(of));
        let is_there = toolset == of_case;
        assert!(is_there, "{}: documents of another place", case.name);
        documents.iter().map(|(path, contents)| (path.clone(), contents.bytes())).collect()
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
}
