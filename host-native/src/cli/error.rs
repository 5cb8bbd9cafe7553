use crate::{Category, ToolError};
use agent_memory_setting_values::hide_urls;
use std::fmt;
use std::process::ExitCode;

/// An error that ends a command, with its exit status.
#[derive(Debug)]
pub struct Error {
    message: String,
    status: u8,
}

impl Error {
    /// The exit status for an error of a tool.
    pub(super) const TOOL: u8 = 1;
    /// The exit status for a command line or an environment that cannot be understood.
    pub(super) const USAGE: u8 = 2;
    /// The exit status for storage that failed, was busy or denied access.
    pub(super) const STORAGE: u8 = 3;

    pub(super) fn usage(message: impl fmt::Display) -> Self {
        Error { message: message.to_string(), status: Self::USAGE }
    }

    pub(super) fn storage(message: impl fmt::Display) -> Self {
        Error { message: message.to_string(), status: Self::STORAGE }
    }

    /// Adds a text to the error's message.
    pub(super) fn adding(mut self, text: &str) -> Self {
        self.message += text;
        self
    }

    pub(super) fn tool(message: impl fmt::Display) -> Self {
        Error { message: message.to_string(), status: Self::TOOL }
    }

    pub(super) fn from_tool(error: ToolError) -> Self {
        Error { status: Self::status_of(&error), message: error.message }
    }

    /// The exit status for an error of a tool.
    pub(super) fn status_of(error: &ToolError) -> u8 {
        match error.category {
            Category::Busy | Category::Denied | Category::Storage => Self::STORAGE,
            _ => Self::TOOL,
        }
    }
}

impl fmt::Display for Error {
    /// Hides the passwords of URLs: the message may repeat the URL of a database that a user gave to
    /// the wrong option.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&hide_urls(&self.message))
    }
}

impl From<Error> for ExitCode {
    fn from(error: Error) -> Self {
        error.status.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_an_error_has_no_password() {
        let error = Error::usage("`--data-dir` is `postgresql://memory:S3cret@h/db`");
        assert_eq!(error.to_string(), "`--data-dir` is `postgresql://...`");
    }

    #[test]
    fn the_exit_status_tells_errors_of_storage_from_other_errors() {
        let status = |category| {
            let code = String::new();
            let message = String::new();
            let json = String::new();
            Error::status_of(&ToolError { category, code, message, json })
        };
        for category in [Category::Busy, Category::Denied, Category::Storage] {
            assert_eq!(status(category), Error::STORAGE, "{category:?}");
        }
        for category in [Category::Invalid, Category::NotFound, Category::Damaged] {
            assert_eq!(status(category), Error::TOOL, "{category:?}");
        }
    }
}
