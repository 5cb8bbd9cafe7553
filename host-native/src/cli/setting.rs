//! One setting, from its flag or else from the environment.

use super::{Error, value};
use crate::builder::below_home;
use agent_memory_setting_values::{is_database_url, path_mistake};
use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// The value of a setting, and its source for messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    source: String,
    value: OsString,
}

impl Setting {
    /// The value of a flag or else of its variable, such as `AGENT_MEMORY_LOCK_WAIT` for `--lock-wait`.
    /// An unexpanded `${...}` in a variable counts as not set. In a flag it is an error when the value
    /// is read, since the user meant a value.
    pub(super) fn parse(flag: &str, given: Option<&OsString>) -> Option<Setting> {
        let given = given
            .filter(|value| !is_blank(value))
            .map(|value| Setting { source: flag.to_owned(), value: value.clone() });
        let name = flag.trim_start_matches('-').replace('-', "_");
        given.or_else(|| Setting::variable(format!("AGENT_MEMORY_{}", name.to_uppercase())))
    }

    /// The value of an environment variable.
    pub(super) fn variable(name: String) -> Option<Setting> {
        let value = std::env::var_os(&name).filter(|value| is_set(value))?;
        Some(Setting { source: name, value })
    }

    pub(super) fn source(&self) -> &str {
        &self.source
    }

    /// The setting's value, parsed by `read`; `form` describes a valid value.
    pub(super) fn read<T>(
        &self,
        form: &str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, Error> {
        let value = self.value.to_str().filter(|_| is_set(&self.value)).and_then(read);
        value.ok_or_else(|| {
            let source = &self.source;
            let value = self.value.display();
            Error::usage(format!("`{source}` is `{value}`, which is not {form}"))
        })
    }

    /// The setting's value as a path.
    pub(super) fn path(&self) -> Result<PathBuf, Error> {
        checked_path(&self.source, &self.value)
    }

    /// The setting's value as a list of paths, separated as in `PATH`.
    pub(super) fn paths(&self) -> Result<Vec<PathBuf>, Error> {
        // Checks the whole value first, before it is split: a URI contains the separator.
        checked_path(&self.source, &self.value)?;
        let paths = std::env::split_paths(&self.value);
        let set = paths.filter(|path| is_set(path.as_os_str()));
        set.map(|path| checked_path(&self.source, path.as_os_str())).collect()
    }
}

/// Reads a path, and replaces a leading `~/` by the home directory.
///
/// # Errors
///
/// If the path is probably a mistake, such as one with an unexpanded variable. The message names
/// `source`.
pub(super) fn checked_path(source: &str, value: &OsStr) -> Result<PathBuf, Error> {
    let text = value.to_string_lossy();
    if cfg!(feature = "postgres") && is_database_url(&text) {
        return Err(Error::usage(format!(
            "`{source}` takes a path, not the URL of a database: `--database-url` and \
             `AGENT_MEMORY_DATABASE_URL` take that"
        )));
    }
    match path_mistake(&text) {
        None if !is_set(value) => Err(Error::usage(format!(
            "`{source}` is `{}`, which is an unexpanded variable: give the path itself",
            value.display()
        ))),
        Some(mistake) => {
            Err(Error::usage(format!("`{source}` is `{}`, which {mistake}", value.display())))
        }
        None => Ok(below_home(value)),
    }
}

/// Checks a name by the rule for names of agents and stores.
pub(super) fn checked_name(source: &str, given: &str) -> Result<String, Error> {
    value::name(given).ok_or_else(|| {
        let accepted = "a name has 1 to 64 letters from A to Z, digits, `.`, `_` and `-`, and begins with \
                        a letter or digit";
        Error::usage(format!("`{source}` is `{}`: {accepted}", given.trim()))
    })
}

/// Values with their meaning, for help and completions. Other values are accepted here and checked
/// later, in the same way for a flag and its variable.
#[derive(Clone)]
pub(super) struct Suggested(Vec<(&'static str, &'static str)>);

impl Suggested {
    pub(super) fn new(values: impl IntoIterator<Item = (&'static str, &'static str)>) -> Self {
        Suggested(values.into_iter().collect())
    }
}

impl TypedValueParser for Suggested {
    type Value = OsString;

    fn parse_ref(
        &self,
        _: &clap::Command,
        _: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<OsString, clap::Error> {
        Ok(value.to_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|&(value, help)| PossibleValue::new(value).help(help))))
    }
}

/// Whether a value is empty or has only spaces. Clients write a setting without a value in this way.
pub(super) fn is_blank(value: &OsStr) -> bool {
    value.as_encoded_bytes().trim_ascii().is_empty()
}

/// Whether a value counts as set: not if it is empty, or one unexpanded `${...}`. Plugin manifests
/// leave such texts in variables for settings without a value.
fn is_set(value: &OsStr) -> bool {
    let text = value.as_encoded_bytes().trim_ascii();
    let unexpanded = text.starts_with(b"${") && text.ends_with(b"}");
    !text.is_empty() && !unexpanded
}

/// Reads a path, and replaces a leading `~/` by the home directory. `None` if the value counts as not
/// set.
pub(super) fn path_of(value: &OsStr) -> Option<PathBuf> {
    is_set(value).then(|| below_home(value))
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "postgres")]
    use super::checked_path;
    use super::{is_set, path_of};
    use std::ffi::OsStr;
    use std::path::Path;

    #[test]
    fn empty_and_unexpanded_values_count_as_not_set() {
        for unset in ["", "  ", "${HOME}", "${user_config.directory}"] {
            assert!(!is_set(OsStr::new(unset)), "{unset}");
        }
        for set in ["a", "$HOME", "${HOME}/memory", "0"] {
            assert!(is_set(OsStr::new(set)), "{set}");
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn a_path_that_is_the_url_of_a_database_is_refused_without_being_told() {
        let url = OsStr::new("postgresql://memory:S3cret@h/db");
        let refused = checked_path("--data-dir", url).expect_err("no path").to_string();
        assert!(
            refused.contains("`--data-dir` takes a path") && refused.contains("--database-url")
        );
        assert!(!refused.contains("S3cret") && !refused.contains("memory:"), "{refused}");
    }

    #[test]
    fn a_leading_tilde_is_the_home_directory() {
        let home = std::env::home_dir().expect("a home directory");
        let path = |text| path_of(OsStr::new(text)).expect("a path");
        assert_eq!(path("~/memory"), home.join("memory"));
        assert_eq!(path("~"), home);
        assert_eq!(path("/a/~/b"), Path::new("/a/~/b"));
        assert_eq!(path("~other/b"), Path::new("~other/b"));
    }
}
