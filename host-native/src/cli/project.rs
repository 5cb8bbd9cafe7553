//! The project of a call, and the name of its agent, under which the project's memory is kept.

use super::Error;
use super::setting::{Setting, Suggested, is_blank, path_of};
use super::value::{self, NAME};
use crate::Builder;
use crate::enclosing_repository::common_directory_around;
use clap::Args;
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The most letters of a directory's name in the name of an agent.
const MAX_LABEL: usize = 40;

/// How many bytes of the digest are in the name of an agent, each as two hexadecimal digits.
const DIGEST: usize = 4;

// Options that limit calls to the agent of the project. No doc comment here: clap would show it as the
// help of each command.
#[derive(Debug, Args)]
pub(super) struct ProjectOptions {
    /// Keep the memory of each project apart: `project`
    ///
    /// All calls are for the agent of the project, and reach no other. The project is the repository
    /// around `CLAUDE_PROJECT_DIR` or else around the working directory, with all of its worktrees.
    /// [env: AGENT_MEMORY_AGENT_FROM]
    #[arg(
        long,
        value_name = "SOURCE",
        value_parser = Suggested::new([("project", "The repository, with all of its worktrees")]),
        hide_possible_values = true,
        help_heading = "Memory"
    )]
    agent_from: Option<OsString>,

    /// The agent of the project, instead of one that is named after the repository
    ///
    /// For `--agent-from project`. [env: AGENT_MEMORY_PROJECT]
    #[arg(long, value_name = "NAME", help_heading = "Memory")]
    project: Option<OsString>,
}

/// The source of the project's agent.
enum Source {
    /// The repository around the working directory or `CLAUDE_PROJECT_DIR`.
    Repository,
    /// The name in `--project`.
    Name(String),
}

impl ProjectOptions {
    /// Binds the calls of a builder to the agent of the project, if the options ask for it.
    pub(super) fn bind(&self, builder: Builder) -> Result<Builder, Error> {
        Ok(match self.agent()? {
            Some(agent) => builder.agents([agent]),
            None => builder,
        })
    }

    /// The agent of the project. `None` if the options do not bind calls to it.
    pub(super) fn agent(&self) -> Result<Option<String>, Error> {
        match self.source()? {
            None => Ok(None),
            Some(Source::Name(name)) => Ok(Some(name)),
            Some(Source::Repository) => agent_of_here().map(Some),
        }
    }

    /// Checks the options without looking for the repository.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.source().map(drop)
    }

    /// Checks that the project of an HTTP server is given by name: the server's working directory is not
    /// the clients' project.
    pub(super) fn check_for_http(&self) -> Result<(), Error> {
        match self.source()? {
            Some(Source::Repository) => Err(Error::usage(
                "a server over HTTP cannot know the project of its clients: name it with `--project` \
                 or `AGENT_MEMORY_PROJECT`, or leave `--agent-from` out and make a token for each \
                 agent (`agent-memory token create NAME --agents NAME`)",
            )),
            _ => Ok(()),
        }
    }

    /// The source of the project's agent. `None` if the options do not bind calls to it.
    fn source(&self) -> Result<Option<Source>, Error> {
        let Some(source) = Setting::parse("--agent-from", self.agent_from.as_ref()) else {
            if self.project.as_deref().is_some_and(|name| !is_blank(name)) {
                let what = "`--project` is given without `--agent-from project`: give both";
                return Err(Error::usage(what));
            }
            return Ok(None);
        };
        source.read("`project`", |source| (source.trim() == "project").then_some(()))?;
        Ok(Some(match Setting::parse("--project", self.project.as_ref()) {
            Some(name) => Source::Name(name.read(NAME, value::name)?),
            None => Source::Repository,
        }))
    }
}

/// The agent of the repository around `CLAUDE_PROJECT_DIR`, or else around the working directory.
///
/// # Errors
///
/// If there is no repository, or if its `.git` cannot be trusted.
pub(super) fn agent_of_here() -> Result<String, Error> {
    let named = std::env::var_os("CLAUDE_PROJECT_DIR").and_then(|directory| path_of(&directory));
    let here = named.map_or_else(std::env::current_dir, Ok);
    let here: PathBuf = here.map_err(|error| {
        Error::usage(format!("the project is not found: {error}: name it with `--project`"))
    })?;
    let common = common_directory_around(&here).map_err(|error| Error::usage(error.message))?;
    common.map(|common| agent_of(&common)).ok_or_else(|| {
        Error::usage(format!(
            "no repository is around `{}`, so there is no project: work in a repository, name the \
             project with `--project` or `AGENT_MEMORY_PROJECT`, or leave `--agent-from` out",
            here.display()
        ))
    })
}

/// The agent of the repository whose worktrees share the Git directory `common`. Its name is that of
/// the repository's directory, and a part of the SHA-256 of the path: so two repositories with the same
/// name have different agents.
fn agent_of(common: &Path) -> String {
    let digest = Sha256::digest(common.as_os_str().as_encoded_bytes());
    let digest: String = digest[..DIGEST].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{digest}", label(common))
}

/// The name of the repository's directory as a part of an agent's name, without a suffix `.git`. ASCII
/// letters, digits and `_` stay, and each run of other characters becomes one `-`. It has at most
/// [`MAX_LABEL`] characters and begins with a letter or a digit. `project` if nothing is left.
fn label(common: &Path) -> String {
    let own = if common.ends_with(".git") { common.parent() } else { Some(common) };
    let name = own.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".git").unwrap_or(&name);
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = name.split(|letter| !is_kept(letter)).filter(|word| !word.is_empty());
    let label = words.collect::<Vec<_>>().join("-");
    let label: String = label.trim_start_matches(['_', '-']).chars().take(MAX_LABEL).collect();
    if label.is_empty() { "project".to_owned() } else { label }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_of_a_project_has_the_name_of_its_directory_and_a_digest_of_the_path() {
        assert_eq!(agent_of(Path::new("/home/ada/acme/.git")), "acme-6cd50aa6");
        let labels = [
            ("/home/ada/acme/.git", "acme"),
            ("/home/ada/acme.git", "acme"),
            ("/home/ada/super/.git/modules/lib", "lib"),
            ("/home/ada/My site (old).v2/.git", "My-site-old-v2"),
            ("/home/ada/__x__/.git", "x__"),
            ("/home/ada/проект/.git", "project"),
            ("/.git", "project"),
        ];
        for (common, expected) in labels {
            assert_eq!(label(Path::new(common)), expected, "{common}");
        }
    }

    #[test]
    fn the_agent_of_a_project_is_a_name_whatever_the_directory_is_called() {
        let long = format!("/{}/.git", "x".repeat(300));
        for common in [long.as_str(), "/con/.git", "/.../.git", "/a/-b-/.git", "/.git"] {
            let agent = agent_of(Path::new(common));
            assert_eq!(value::name(&agent).as_ref(), Some(&agent));
            assert!(!agent.contains('.') && agent.len() <= MAX_LABEL + 1 + 2 * DIGEST, "{agent}");
        }
    }

    #[test]
    fn repositories_of_one_name_have_different_agents() {
        assert_ne!(agent_of(Path::new("/a/acme/.git")), agent_of(Path::new("/b/acme/.git")));
    }
}
