//! Tests of what others do while a commit is under way.

mod between_stages;
#[cfg(not(windows))]
mod taken_over;
