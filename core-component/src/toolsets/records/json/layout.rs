//! The layout of the file, as spec 001 has it.

use serde_json::Value;

use crate::toolsets::records::memory::Memory;

/// The indentation of a record's members, in levels of two spaces.
pub(super) const RECORD_DEPTH: usize = 3;

/// The text after a byte order mark, which some editors write at the beginning of a file.
pub(in crate::toolsets::records) fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The text of a memory's record in the file.
pub(in crate::toolsets::records) fn record_text(memory: &Memory) -> String {
    let record = serde_json::to_value(memory).expect("a memory is JSON");
    indented(&record, RECORD_DEPTH - 1)
}

/// A JSON value as text in the layout of spec 001: two spaces a level. `depth` is the level of the
/// value's first line.
pub(super) fn indented(value: &Value, depth: usize) -> String {
    let text = serde_json::to_string_pretty(value).expect("a value is JSON");
    text.replace('\n', &format!("\n{}", "  ".repeat(depth)))
}
