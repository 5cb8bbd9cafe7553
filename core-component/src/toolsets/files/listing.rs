//! Lists a directory for `view_memory_file`.

use std::collections::BTreeMap;

use super::error::Error;
use super::path::FilePath;
use super::tree::Files;
use super::walk::{Walk, Which};

/// The number of directory levels that a listing shows.
const DEPTH: usize = 2;

/// The maximum number of entries of a listing.
const MAX_ENTRIES: usize = 1_000;

/// The maximum number of notes about entries that are not listed.
const MAX_NOTES: usize = 5;

/// An entry of a listing.
#[derive(Default)]
struct Item {
    is_directory: bool,
    /// The bytes of a file, or the total bytes of all files below a directory.
    size: u64,
}

/// Returns the listing: the files and directories below a directory, with their sizes, in the order
/// of their names.
pub(super) fn listing(files: &Files<'_>, directory: &FilePath) -> Result<String, Error> {
    let Walk { files: found, left, .. } = Walk::new(files, directory, Which::Listed)?;
    let mut items: BTreeMap<Vec<&str>, Item> = BTreeMap::new();
    for (path, status) in &found {
        let names: Vec<&str> = directory.rest(path).unwrap_or_default().split('/').collect();
        for depth in 1..=names.len().min(DEPTH) {
            let item = items.entry(names[..depth].to_vec()).or_default();
            item.is_directory = depth < names.len();
            item.size += status.size;
        }
    }
    let total = found.iter().map(|(_, status)| status.size).sum();
    let mut lines = vec![
        format!(
            "Here're the files and directories up to 2 levels deep in {directory}, excluding hidden \
             items and node_modules:"
        ),
        format!("{}\t{directory}", size(total)),
    ];
    lines.extend(items.iter().take(MAX_ENTRIES).map(|(names, item)| {
        let slash = if item.is_directory { "/" } else { "" };
        format!("{}\t{directory}/{}{slash}", size(item.size), names.join("/"))
    }));
    if items.len() > MAX_ENTRIES {
        let more = items.len() - MAX_ENTRIES;
        lines.push(format!(
            "({more} more are not listed: view a subdirectory, or delete old files.)"
        ));
    }
    lines.extend(
        left.iter().take(MAX_NOTES).map(|error| format!("(Not listed: {})", error.message())),
    );
    Ok(lines.join("\n"))
}

/// Formats a size for people, such as `1.5K`.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "K", "M", "G"];
    let unit = UNITS.len() - 1;
    let unit = (0..unit).find(|unit| bytes >> (10 * (unit + 1)) == 0).unwrap_or(unit);
    if bytes.trailing_zeros() >= 10 * unit as u32 || bytes == 0 {
        format!("{}{}", bytes >> (10 * unit), UNITS[unit])
    } else {
        format!("{:.1}{}", bytes as f64 / (1_u64 << (10 * unit)) as f64, UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_at_most_one_decimal() {
        for (bytes, shown) in [
            (0, "0B"),
            (1, "1B"),
            (1023, "1023B"),
            (1024, "1K"),
            (1536, "1.5K"),
            (5632, "5.5K"),
            (1 << 20, "1M"),
            (1_258_291, "1.2M"),
            (3 << 40, "3072G"),
        ] {
            assert_eq!(size(bytes), shown);
        }
    }
}
