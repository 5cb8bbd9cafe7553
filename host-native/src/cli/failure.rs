use crate::ToolError;
use std::fmt;
use std::process::ExitCode;

/// The errors that storage is the cause of, by the codes of every toolset.
const STORAGE_CODES: [&str; 6] =
    ["Busy", "PermissionDenied", "StorageError", "BUSY", "PERMISSION_ERROR", "STORAGE_ERROR"];

/// What ended a command early.
#[derive(Debug)]
pub struct Failure {
    message: String,
    status: u8,
}

impl Failure {
    /// The exit status of a tool that refused what it was asked.
    pub(super) const TOOL: u8 = 1;
    /// The exit status of a command line or an environment that cannot be understood.
    pub(super) const USAGE: u8 = 2;
    /// The exit status of storage that failed, was busy or denied access.
    pub(super) const STORAGE: u8 = 3;

    pub(super) fn usage(message: impl fmt::Display) -> Self {
        Failure { message: message.to_string(), status: Self::USAGE }
    }

    pub(super) fn storage(message: impl fmt::Display) -> Self {
        Failure { message: message.to_string(), status: Self::STORAGE }
    }

    /// The same with more in its message.
    pub(super) fn adding(mut self, text: &str) -> Self {
        self.message += text;
        self
    }

    pub(super) fn tool(message: impl fmt::Display) -> Self {
        Failure { message: message.to_string(), status: Self::TOOL }
    }

    pub(super) fn refused(error: ToolError) -> Self {
        Failure { status: Self::status_of(&error), message: error.message }
    }

    /// The exit status for a tool's error.
    pub(super) fn status_of(error: &ToolError) -> u8 {
        match STORAGE_CODES.contains(&error.code.as_str()) {
            true => Self::STORAGE,
            false => Self::TOOL,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl From<Failure> for ExitCode {
    fn from(failure: Failure) -> Self {
        failure.status.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_status_tells_storage_from_a_tool_that_refuses() {
        let status = |code: &str| {
            Failure::status_of(&ToolError { code: code.to_owned(), message: String::new() })
        };
        for code in ["Busy", "STORAGE_ERROR"] {
            assert_eq!(status(code), Failure::STORAGE, "{code}");
        }
        for code in ["InvalidSection", "NOT_FOUND", ""] {
            assert_eq!(status(code), Failure::TOOL, "{code}");
        }
    }
}
