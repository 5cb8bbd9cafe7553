//! The paths that a tree can hold, on every file system. `resource tree` in `wit/storage` has the rules.

/// The most segments of a path.
const MAX_SEGMENTS: usize = 16;

/// The most bytes of a segment.
pub const MAX_SEGMENT_BYTES: usize = 255;

/// The suffix of the names of a host's temporary files. These names begin with a dot.
pub const TEMPORARY_SUFFIX: &str = ".agent-memory-tmp";

/// The segments of a document's path.
///
/// # Errors
///
/// Why no tree can hold the path, as words that follow the path in a message.
pub fn segments(path: &str) -> Result<Vec<&str>, &'static str> {
    let segments: Vec<&str> = path.split('/').collect();
    if segments.len() > MAX_SEGMENTS {
        return Err("has more than 16 segments");
    }
    match segments.iter().find_map(|segment| objection(segment)) {
        Some(reason) => Err(reason),
        None => Ok(segments),
    }
}

/// Whether a host's temporary file has this name.
pub fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.len() > TEMPORARY_SUFFIX.len() && name.ends_with(TEMPORARY_SUFFIX)
}

fn objection(segment: &str) -> Option<&'static str> {
    if segment.is_empty() {
        return Some("has an empty segment");
    }
    if segment.len() > MAX_SEGMENT_BYTES {
        return Some("has a segment of more than 255 bytes");
    }
    if segment.ends_with(['.', ' ']) {
        return Some("has a segment that ends in a dot or a space");
    }
    if segment.contains(|c: char| c.is_control() || c == '\\' || c == ':') {
        return Some("has a control character, `\\` or `:`");
    }
    if segment.eq_ignore_ascii_case(".git") {
        return Some("has a segment that is Git's own");
    }
    if is_device(segment) {
        return Some("has a segment that names a device on Windows");
    }
    if is_temporary(segment) {
        return Some("has a segment that names a temporary file");
    }
    None
}

/// Whether Windows takes the segment as a device's name. It ignores the case and the extension of such
/// a name.
fn is_device(segment: &str) -> bool {
    let stem = segment.split('.').next().unwrap_or_default();
    let stem = stem.trim_end_matches(' ').to_ascii_uppercase();
    if let Some(digit) = stem.strip_prefix("COM").or(stem.strip_prefix("LPT")) {
        let mut digits = digit.chars();
        return matches!(digits.next(), Some('1'..='9' | '¹' | '²' | '³'))
            && digits.next().is_none();
    }
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$")
}
