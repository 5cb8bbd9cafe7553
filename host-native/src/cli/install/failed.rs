use crate::cli::Error;
use agent_memory_client_config::Error as ConfigError;

/// An error of a configuration file, with its exit status.
pub(super) fn failed(error: ConfigError) -> Error {
    match error {
        ConfigError::Io { .. } => Error::storage(error),
        _ => Error::usage(error),
    }
}
