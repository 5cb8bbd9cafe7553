use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agent::{in_repository, open_tree};
use super::error::{Code, Error};
use super::examination::{Examination, Subject, subjects};
use super::finding::Severity;
use crate::page::{CURSOR_ACCEPTED, invalid_cursor_message};
use crate::tool::{Audience, Call, Hints, Tool};

/// The maximum numbers of files and of bytes of a page. A page with a single file may have more
/// bytes.
const MAX_SUBJECTS: usize = 200;
const MAX_BYTES: u64 = 4 << 20;

pub(super) struct Validate;

/// Checks every session log, summary and schema of a repository, one page a call. What makes a
/// tool refuse to work is an error, what only makes it warn is a warning. Writes nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "Validate a repository")]
pub(super) struct Input {
    /// The absolute path of the repository's top level. Leave it out if only one is granted.
    #[schemars(length(min = 1, max = 4096))]
    repo_root: Option<String>,
    /// Where the last call stopped. Leave it out to begin.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    /// What was found on this page, in the order of the files and their lines.
    findings: Vec<Reported>,
    /// How many files have been examined, this page and those before it.
    done: usize,
    /// How many files there are.
    total: usize,
    /// For the next call; absent after the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Reported {
    /// The file's path, relative to `repo_root`.
    file: String,
    /// Counted from 1.
    line: usize,
    /// `error` or `warning`.
    severity: Severity,
    /// What is wrong, and what to do.
    message: String,
}

impl Tool for Validate {
    const NAME: &'static str = "validate";
    const HINTS: Hints = Hints::READS;
    const AUDIENCE: Audience = Audience::Person;
    type Input = Input;
    type Output = Output;
    type Error = Error;

    fn run(call: &Call<'_>, input: Input) -> Result<Output, Error> {
        let tree = open_tree(call, input.repo_root.as_deref())?;
        let subjects = subjects(call, &*tree)?;
        let start = match &input.cursor {
            None => 0,
            Some(cursor) if !was_given(cursor, &subjects) => return Err(invalid_cursor(cursor)),
            Some(cursor) => subjects.partition_point(|subject| subject.path <= *cursor),
        };
        let mut examination = Examination::new(&*tree);
        let mut findings = Vec::new();
        let mut bytes = 0;
        let mut done = start;
        for subject in subjects[start..].iter().take(MAX_SUBJECTS) {
            bytes += subject.size;
            if done > start && bytes > MAX_BYTES {
                break;
            }
            done += 1;
            findings.extend(examination.examine(subject)?.into_iter().map(
                |(severity, finding)| {
                    let file = in_repository(&subject.path);
                    Reported { file, line: finding.line, severity, message: finding.what }
                },
            ));
        }
        let cursor = (done < subjects.len()).then(|| subjects[done - 1].path.clone());
        Ok(Output { findings, done, total: subjects.len(), cursor })
    }
}

/// Whether an earlier page can have returned this cursor: the path of a file. The file may have
/// been deleted since, but its agent must still have files.
fn was_given(cursor: &str, subjects: &[Subject]) -> bool {
    if subjects.iter().any(|subject| subject.path == cursor) {
        return true;
    }
    let Some((agent, file)) = cursor.split_once('/') else { return false };
    let is_file = matches!(file, "_schema.md" | "_summary.md") || file.starts_with("logs/");
    let is_of_agent =
        |subject: &Subject| subject.path.split_once('/').is_some_and(|(other, _)| other == agent);
    is_file && subjects.iter().any(is_of_agent)
}

fn invalid_cursor(cursor: &str) -> Error {
    let message = invalid_cursor_message(cursor);
    Error::at(Code::InvalidInput, message, "cursor", CURSOR_ACCEPTED.into())
}
