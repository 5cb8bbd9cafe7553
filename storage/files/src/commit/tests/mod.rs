//! Tests in which other programs act while a commit is under way.

mod between_stages;
#[cfg(not(windows))]
mod taken_over;
