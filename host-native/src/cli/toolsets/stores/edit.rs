use super::draft::Draft;
use super::editor::Editor;
use super::target::{Open, Target};
use crate::cli::output::print_note;
use crate::cli::{Error, help};
use clap::{Args, ValueHint};
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;

/// Edit a memory in your editor.
///
/// The editor is the command in `VISUAL`, or else in `EDITOR`, or else `vi`. It gets a private copy of
/// the file. When it ends, the text is checked, the memory is written, and its index is updated. A
/// text that cannot be written is kept, and the message says where.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/edit.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct Edit {
    /// The name of the store
    name: String,

    /// The path of the memory, as `store list NAME` prints it
    path: String,

    /// Begin with the text of this file, such as one that an earlier edit kept
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    from: Option<PathBuf>,

    #[command(flatten)]
    target: Target,
}

#[derive(Deserialize)]
struct File {
    text: String,
    version: String,
}

#[derive(Deserialize)]
struct Written {
    warnings: Vec<String>,
}

impl Edit {
    pub(super) fn run(self) -> Result<(), Error> {
        let editor = Editor::from_user()?;
        let target = self.target.open()?;
        let current = self.file(&target)?;
        let (begin, version) = match &self.from {
            None => (current.text.clone(), current.version),
            Some(file) => {
                let (text, version) = Draft::kept(file)?;
                (text, version.unwrap_or(current.version))
            }
        };
        let draft = Draft::new(&self.path, &begin, &version)?;
        let edited = editor.edit(&target, draft.file()).and_then(|()| draft.read());
        let text = match edited.map_err(|error| error.adding("; nothing was written")) {
            Ok(text) => text,
            Err(error) if draft.has(&begin) || !draft.file().exists() => {
                draft.remove();
                return Err(error);
            }
            Err(error) => return Err(self.kept(error, &draft)),
        };
        if text == current.text {
            draft.remove();
            print_note(&format!("`{}` is unchanged: nothing was written", self.path));
            return Ok(());
        }
        let arguments =
            json!({"store": self.name, "path": self.path, "text": text, "version": version});
        match target.call::<Written>("put_memory_file", &arguments) {
            Ok(written) => {
                draft.remove();
                written.warnings.iter().for_each(|warning| print_note(warning));
                print_note(&format!("`{}` is written", self.path));
                Ok(())
            }
            Err(error) => Err(self.refused(error, &target, &draft, &version)),
        }
    }

    fn file(&self, target: &Open) -> Result<File, Error> {
        target.call("get_memory_file", &json!({"store": self.name, "path": self.path}))
    }

    /// The error for a text that was not written. If the memory has changed since it was read, the
    /// draft gets its new version: the next edit then replaces the changed memory.
    fn refused(&self, error: Error, target: &Open, draft: &Draft, version: &str) -> Error {
        let Ok(current) = self.file(target) else { return self.kept(error, draft) };
        if current.version == version || draft.set_version(&current.version).is_err() {
            return self.kept(error, draft);
        }
        let compare = format!(
            "; compare your text with `agent-memory store show {} {}`",
            self.name, self.path
        );
        self.kept(error.adding(&compare), draft)
    }

    /// Adds the path of the kept text to the error.
    fn kept(&self, error: Error, draft: &Draft) -> Error {
        let file = draft.file().display();
        error.adding(&format!(
            "; your text is kept: go on with `agent-memory store edit {} {} --from '{file}'`",
            self.name, self.path
        ))
    }
}
