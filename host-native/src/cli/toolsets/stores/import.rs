use super::folder::Folder;
use super::target::{Open, Target};
use crate::cli::output::{print, print_note};
use crate::cli::progress::Progress;
use crate::cli::{Error, help};
use clap::{Args, ValueEnum, ValueHint};
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The limits of a page.
const PAGE_FILES: usize = 500;
const PAGE_BYTES: usize = 2 << 20;

/// Import a folder of Markdown files.
///
/// Directories become categories, and files become memories, each with the nearest valid name: `My
/// Notes/Deploy Plan.md` becomes `my-notes/deploy-plan`, and `Résumé.md` becomes `resume`. Files that
/// would have the same name get a mark of their own. Front matter is kept. Symbolic links are skipped.
/// Files that are not Markdown and names that begin with a dot are left out.
///
/// Standard output gets a line for each import: `added` or `replaced`, the memory and the file,
/// separated by tabs. Standard error names each file that is skipped. A file whose memory has its text
/// already counts as imported before, so an import that was stopped is continued by the same command.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/import.txt"),
    include_str!("help/import-status.txt"),
]))]
pub(super) struct Import {
    /// The name of the store
    name: String,

    /// The folder
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    directory: PathBuf,

    /// The category for the folder [default: the root of the store]
    #[arg(long, value_name = "CATEGORY")]
    into: Option<String>,

    /// What to do with a file whose memory has another text
    #[arg(long, value_name = "CHOICE", value_enum, default_value_t)]
    on_conflict: OnConflict,

    /// Print what would be done, and write nothing
    #[arg(long)]
    dry_run: bool,

    #[command(flatten)]
    target: Target,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum OnConflict {
    /// Keep the memory
    #[default]
    Skip,
    /// Replace the memory; it keeps its front matter if the file has none
    Replace,
    /// Import nothing of its page of some hundred files, and end
    Refuse,
}

#[derive(Deserialize)]
struct Plan {
    memories: Vec<Planned>,
    skipped: Vec<Skipped>,
    others: usize,
}

#[derive(Deserialize)]
struct Planned {
    file: String,
    path: String,
}

#[derive(Deserialize)]
struct Skipped {
    file: String,
    reason: String,
}

#[derive(Deserialize)]
struct Answer {
    files: Vec<Imported>,
    warnings: Vec<String>,
}

#[derive(Deserialize)]
struct Imported {
    path: String,
    outcome: String,
    reason: Option<String>,
}

/// The files that the next call imports.
#[derive(Default)]
struct Page {
    names: Vec<String>,
    files: Vec<Value>,
    bytes: usize,
}

/// The totals of all pages so far.
#[derive(Default)]
struct Totals {
    added: usize,
    replaced: usize,
    unchanged: usize,
    skipped: usize,
}

/// An import that is under way.
struct Run<'a> {
    import: &'a Import,
    target: &'a Open,
    totals: Totals,
    progress: Progress,
}

impl Import {
    pub(super) fn run(self) -> Result<ExitCode, Error> {
        let target = self.target.open()?;
        let folder = Folder::new(&self.directory)?;
        let mut arguments = json!({"store": self.name, "files": folder.files});
        if let Some(category) = &self.into {
            arguments["category"] = json!(category);
        }
        let plan: Plan = target.call("plan_import", &arguments)?;
        let totals = Totals::default();
        let progress = Progress::new("files");
        let mut run = Run { import: &self, target: &target, totals, progress };
        for (file, reason) in &folder.skipped {
            run.skip(file, reason);
        }
        for Skipped { file, reason } in &plan.skipped {
            run.skip(file, reason);
        }
        run.import_all(&folder, &plan.memories)?;
        let mut words = run.totals.in_words(self.dry_run);
        if plan.others > 0 {
            words += &format!("; {} not Markdown", count(plan.others, "file is", "files are"));
        }
        print_note(&words);
        Ok(match run.totals.skipped {
            0 => ExitCode::SUCCESS,
            _ => Error::TOOL.into(),
        })
    }
}

impl Run<'_> {
    fn import_all(&mut self, folder: &Folder, memories: &[Planned]) -> Result<(), Error> {
        let mut page = Page::default();
        for (done, Planned { file, path }) in memories.iter().enumerate() {
            let text = match folder.read(file) {
                Ok(text) => text,
                Err(reason) => {
                    self.skip(file, &reason);
                    continue;
                }
            };
            if page.is_full_for(&text) {
                self.import_page(std::mem::take(&mut page))?;
                self.progress.show(done, memories.len());
            }
            page.bytes += text.len();
            page.names.push(file.clone());
            page.files.push(json!({"path": path, "text": text}));
        }
        self.import_page(page)
    }

    fn import_page(&mut self, page: Page) -> Result<(), Error> {
        if page.files.is_empty() {
            return Ok(());
        }
        let on_conflict = match self.import.on_conflict {
            OnConflict::Skip => "skip",
            OnConflict::Replace => "replace",
            OnConflict::Refuse => "refuse",
        };
        let arguments = json!({
            "store": self.import.name,
            "files": page.files,
            "on_conflict": on_conflict,
            "dry_run": self.import.dry_run,
        });
        let answer = self.target.call::<Answer>("import_memories", &arguments);
        self.progress.clear();
        let answer = answer.map_err(|error| match self.totals.imported() {
            0 => error,
            _ => {
                let before = self.totals.in_words(self.import.dry_run);
                error.adding(&format!("; before that: {before}"))
            }
        })?;
        for (file, Imported { path, outcome, reason }) in page.names.iter().zip(&answer.files) {
            match outcome.as_str() {
                "unchanged" => self.totals.unchanged += 1,
                "skipped" => self.skip(file, reason.as_deref().unwrap_or_default()),
                _ => {
                    let is_new = outcome == "added";
                    *if is_new { &mut self.totals.added } else { &mut self.totals.replaced } += 1;
                    print(&format!("{outcome}\t{path}\t{file}"))?;
                }
            }
        }
        answer.warnings.iter().for_each(|warning| print_note(warning));
        Ok(())
    }

    fn skip(&mut self, file: &str, reason: &str) {
        self.progress.clear();
        print_note(&format!("`{}` is skipped: {reason}", file.escape_debug()));
        self.totals.skipped += 1;
    }
}

impl Page {
    fn is_full_for(&self, text: &str) -> bool {
        let is_longer = self.bytes + text.len() > PAGE_BYTES;
        self.files.len() == PAGE_FILES || !self.files.is_empty() && is_longer
    }
}

impl Totals {
    fn imported(&self) -> usize {
        self.added + self.replaced
    }

    fn in_words(&self, is_dry_run: bool) -> String {
        let imported = if is_dry_run { "would be imported" } else { "imported" };
        let mut words = format!("{} {imported}", count(self.imported(), "memory", "memories"));
        if self.replaced > 0 {
            words += &format!(", {} of them replaced", self.replaced);
        }
        if self.unchanged > 0 {
            words += &format!(", {} imported before", self.unchanged);
        }
        if self.skipped > 0 {
            words += &format!(", {} skipped", count(self.skipped, "file", "files"));
        }
        words
    }
}

fn count(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}
