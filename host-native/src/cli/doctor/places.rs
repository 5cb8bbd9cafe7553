//! The places of the toolsets: their directories, their databases, and what their registries list.

use super::finding::Finding;
use crate::cli::program::description;
use crate::storage::{Error, ErrorCode};
use crate::{AgentMemory, PlaceDescription};
use agent_memory_storage_files::{Directory, OWN, display, errno_error};
use std::fs;
use std::path::Path;
use tokio::runtime::Runtime;

pub(super) fn findings(memory: &AgentMemory, runtime: &Runtime, repair: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for place in description().toolsets.iter().flat_map(|toolset| &toolset.places) {
        if place.kind == "family" {
            findings.extend(of_family(memory, place));
            continue;
        }
        let Some(directory) = memory.place_directory(&place.label) else { continue };
        findings.extend(of_directory(place, &directory, repair));
        for database in &place.databases {
            findings.extend(of_database(memory, runtime, place, &database.name));
        }
    }
    findings
}

/// Databases that are empty or gone, while their write-ahead log has changes. SQLite deletes such a log
/// when it opens the database.
pub(super) fn orphans(memory: &AgentMemory) -> impl Iterator<Item = Finding> {
    let places = description().toolsets.iter().flat_map(|toolset| &toolset.places);
    let size = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    places.flat_map(move |place| {
        let directory = memory.place_directory(&place.label);
        let databases = place.databases.iter();
        databases.filter_map(move |database| {
            let path = directory.as_ref()?.join(&database.name);
            let log = path.with_file_name(format!("{}-wal", database.name));
            if size(&path) > 0 || size(&log) == 0 {
                return None;
            }
            let message = format!(
                "{}: `{}` is empty or gone, but changes wait in its log",
                place.title,
                display(&path)
            );
            let advice = "copy both before any program opens them, then restore the database from a \
                          backup; the rest is not looked at";
            Some(Finding::error("database", message).advise(advice))
        })
    })
}

fn of_directory(place: &PlaceDescription, directory: &Path, repair: bool) -> Vec<Finding> {
    let title = &place.title;
    let shown = display(directory);
    let about = "directory";
    let Ok(found) = fs::metadata(directory) else {
        return vec![match makeable(directory) {
            Ok(()) => Finding::good(about, format!("{title}: nothing is kept in `{shown}` yet")),
            Err(error) => Finding::error(about, format!("{title}: {}", error.message)),
        }];
    };
    let opened = Directory::open(directory);
    if let Err(errno) = opened.and_then(|directory| directory.writable()) {
        let error = errno_error(errno, &format!("write to `{shown}`"));
        return vec![Finding::error(about, format!("{title}: {}", error.message))];
    }
    let mode = mode(&found);
    // A directory may belong to other programs, too, if it only holds the file of a place, or if its
    // mode has special bits. Then its mode is not changed.
    let is_own = place.kind == "directory" && directory.join(OWN).is_dir() && mode & 0o7000 == 0;
    if !place.is_private || mode & 0o077 == 0 || (!is_own && place.kind != "directory") {
        return vec![Finding::good(about, format!("{title}: `{shown}`"))];
    }
    let message = format!("{title}: others may reach into `{shown}` (mode {mode:o})");
    if !is_own {
        let advice = "keep it in a directory of its own";
        return vec![Finding::warning(about, message).advise(advice)];
    }
    if !repair {
        let advice = format!("run `agent-memory doctor --repair`, or `chmod 700 '{shown}'`");
        return vec![Finding::warning(about, message).advise(advice)];
    }
    vec![match restrict(directory, found) {
        Ok(()) => Finding::good(about, format!("{message}: repaired, now 700")),
        Err(error) => Finding::error(about, format!("{message}: cannot be repaired: {error}")),
    }]
}

/// Checks that a missing directory can be created.
fn makeable(directory: &Path) -> Result<(), Error> {
    let nearest = Directory::open_nearest(directory);
    nearest
        .and_then(|(nearest, _)| nearest.writable())
        .map_err(|errno| errno_error(errno, &format!("make `{}`", display(directory))))
}

/// The mode bits of a file. `0o700` on Windows, which has no mode bits.
fn mode(found: &fs::Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o7777;
    #[cfg(not(unix))]
    {
        let _ = found;
        0o700
    }
}

fn restrict(directory: &Path, found: fs::Metadata) -> std::io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has modes"))]
    let mut permissions = found.permissions();
    #[cfg(unix)]
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o700);
    fs::set_permissions(directory, permissions)
}

fn of_database(
    memory: &AgentMemory,
    runtime: &Runtime,
    place: &PlaceDescription,
    name: &str,
) -> Option<Finding> {
    let title = &place.title;
    let about = "database";
    Some(match runtime.block_on(memory.check_database(&place.label, name)) {
        Ok(complaints) if complaints.is_empty() => {
            Finding::good(about, format!("{title}: `{name}` is sound"))
        }
        Ok(complaints) => {
            let message = format!("{title}: `{name}` is damaged: {}", complaints.join("; "));
            let advice = "end all servers and restore it from a backup, or bring out what can be \
                          read with `sqlite3 FILE .recover`";
            Finding::error(about, message).advise(advice)
        }
        Err(error) if error.code == ErrorCode::NotFound => return None,
        Err(error) => Finding::error(about, format!("{title}: {}", error.message)),
    })
}

fn of_family(memory: &AgentMemory, place: &PlaceDescription) -> Vec<Finding> {
    let title = &place.title;
    let about = "registry";
    let listed = match memory.registered(&place.label) {
        Ok(listed) => listed,
        Err(error) if error.code == ErrorCode::NotFound => return Vec::new(),
        Err(error) => return vec![Finding::error(about, error.message)],
    };
    let mut findings = vec![Finding::good(about, format!("{title}: {} listed", listed.len()))];
    for (name, entry) in listed {
        if let Some(reason) = entry.unusable {
            findings.push(Finding::error(about, format!("`{name}` cannot be used: {reason}")));
        }
        let warnings = entry.warnings.iter();
        let warning = |text: &String| Finding::warning(about, format!("`{name}`: {text}"));
        findings.extend(warnings.map(warning));
    }
    findings
}
