//! Reading the header of a session log: agent, date, session id and schema version. `log.rs` writes
//! and checks it.

use std::ops::Range;

use crate::text::lines;

/// The fields of a header. A missing field is `None`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub agent: Option<Field>,
    pub date: Option<Field>,
    pub session_id: Option<Field>,
    pub schema: Option<Field>,
}

/// One line of a header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub value: String,
    /// The offset in the log of the beginning of this line.
    pub at: usize,
}

impl Header {
    /// Reads the fields in both forms: `- Agent Name: x`, and `**Agent Name:** x`, which an earlier
    /// program wrote. If a field appears twice, the first one counts.
    pub fn read(log: &str, range: Range<usize>) -> Self {
        let mut header = Self::default();
        for (at, line) in lines(&log[range.clone()]) {
            let at = range.start + at;
            let line = line.trim().trim_start_matches(['-', '*', '+']).trim_start();
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim_start_matches('*').trim().to_owned();
            let field = match name.trim_end_matches('*').trim() {
                "Agent Name" => &mut header.agent,
                "Date" => &mut header.date,
                "Session ID" => &mut header.session_id,
                "Schema" => &mut header.schema,
                _ => continue,
            };
            field.get_or_insert(Field { value, at });
        }
        header
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_header_are_read() {
        let field = |value: &str, at| Some(Field { value: value.into(), at });
        let ours = "\n- Agent Name: ada\r\n- Date: 2025-01-20\n- Session ID: s\n- Schema: v1\n";
        let header = Header::read(ours, 0..ours.len());
        assert_eq!(header.agent, field("ada", 1));
        assert_eq!(header.date, field("2025-01-20", 20));
        assert_eq!(header.session_id, field("s", 39));
        assert_eq!(header.schema, field("v1", 55));
        let theirs = "# t\n**Agent Name:** ada\n**Date:** 2025-01-20\n**Session ID:** s\n\n---\n";
        let header = Header::read(theirs, 4..theirs.len());
        assert_eq!(header.agent, field("ada", 4));
        assert_eq!(header.date, field("2025-01-20", 24));
        assert_eq!(header.session_id, field("s", 45));
        assert_eq!(header.schema, None);
    }
}
