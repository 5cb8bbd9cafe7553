use crate::{Category, Refusal};
use std::fmt;
use std::process::ExitCode;

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

    pub(super) fn refused(refusal: Refusal) -> Self {
        Failure { status: Self::status_of(&refusal), message: refusal.message }
    }

    /// The exit status for what a tool refused.
    pub(super) fn status_of(refusal: &Refusal) -> u8 {
        match refusal.category {
            Category::Busy | Category::Denied | Category::Storage => Self::STORAGE,
            _ => Self::TOOL,
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
        let status = |category| {
            let (code, message, json) = (String::new(), String::new(), String::new());
            Failure::status_of(&Refusal { category, code, message, json })
        };
        for category in [Category::Busy, Category::Denied, Category::Storage] {
            assert_eq!(status(category), Failure::STORAGE, "{category:?}");
        }
        for category in [Category::Invalid, Category::NotFound, Category::Damaged] {
            assert_eq!(status(category), Failure::TOOL, "{category:?}");
        }
    }
}
