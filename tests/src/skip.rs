//! Skipping a test that cannot run on this machine. It prints a line that `scripts/test` counts, or
//! fails if no test may be skipped.
//!
//! The native host's tests include this file too, so it uses the standard library only.

use std::env;
use std::panic::Location;
use std::thread;

/// `1`: no test may be skipped. `0`: tests may be skipped even if `CI` is `true`.
pub const NO_SKIPS: &str = "AGENT_MEMORY_NO_SKIPS";

/// Reports that the current test, or a part of it, is skipped.
///
/// # Panics
///
/// If `AGENT_MEMORY_NO_SKIPS` or `CI` forbids it.
#[track_caller]
pub fn skip(reason: &str) {
    let line = line(Location::caller(), reason);
    assert!(
        !are_forbidden(|name| env::var(name).ok()),
        "{line}: `{NO_SKIPS}` or `CI` forbids skipped tests"
    );
    println!("{line}");
}

/// Reports that the current test runs only with a setting such as `NAME=1`.
#[track_caller]
#[allow(dead_code, reason = "the native host has no such test")]
pub fn not_asked_for(setting: &str) {
    println!("{}", line(Location::caller(), &format!("it runs only with `{setting}`")));
}

/// `skipped: <file>::<test>: <reason>`.
fn line(caller: &Location<'_>, reason: &str) -> String {
    let program = env::current_exe().unwrap_or_default();
    let program = program.file_stem().unwrap_or_default().to_string_lossy();
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    // A test's thread has the test's name. In other threads, the line number identifies it.
    let test = match thread::current().name() {
        Some(name) if name != "main" => name.to_owned(),
        _ => format!("line-{}", caller.line()),
    };
    format!("skipped: {program}::{test}: {reason}")
}

fn are_forbidden(variable: impl Fn(&str) -> Option<String>) -> bool {
    match variable(NO_SKIPS).as_deref() {
        Some("" | "0") => false,
        Some(_) => true,
        None => variable("CI").as_deref() == Some("true"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skip_names_its_test_and_its_reason() {
        let line = line(Location::caller(), "there is no moon");
        let test = concat!(module_path!(), "::a_skip_names_its_test_and_its_reason");
        let test = test.split_once("::").expect("the crate's name comes first").1;
        assert!(line.starts_with("skipped: "), "{line}");
        assert!(line.ends_with(&format!("::{test}: there is no moon")), "{line}");
    }

    #[test]
    fn skips_are_forbidden_by_a_variable_or_in_ci() {
        for (no_skips, ci, forbidden) in [
            (None, None, false),
            (Some("1"), None, true),
            (None, Some("true"), true),
            (None, Some("false"), false),
            (Some("0"), Some("true"), false),
        ] {
            let variable = |name: &str| if name == NO_SKIPS { no_skips } else { ci };
            let found = are_forbidden(|name| variable(name).map(str::to_owned));
            assert_eq!(found, forbidden, "{no_skips:?}, {ci:?}");
        }
    }
}
