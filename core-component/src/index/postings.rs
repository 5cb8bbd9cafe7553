//! Postings: which parts have a stem, and how often.

use super::codes::{Codes, put};

/// The postings of a stem in a segment, ordered by part. Each posting is encoded as the number of parts
/// since the posting before, followed by the count if it is not 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Postings {
    pub bytes: Vec<u8>,
    next: u32,
}

impl Postings {
    /// Adds a posting that comes after all others.
    pub fn push(&mut self, part: u32, count: u32) {
        let gap = u64::from(part - self.next) << 1;
        self.next = part + 1;
        if count == 1 {
            return put(&mut self.bytes, gap);
        }
        put(&mut self.bytes, gap | 1);
        put(&mut self.bytes, count.into());
    }

    /// Calls `found` with each part and its count. `None` if the bytes are damaged. Empty bytes are: a
    /// stem without parts has no row.
    pub fn each(bytes: &[u8], mut found: impl FnMut(u32, u32)) -> Option<()> {
        if bytes.is_empty() {
            return None;
        }
        let mut codes = Codes(bytes);
        let mut next = 0_u32;
        while !codes.is_empty() {
            let code = codes.number()?;
            let part = next.checked_add((code >> 1).try_into().ok()?)?;
            next = part.checked_add(1)?;
            found(part, if code & 1 == 0 { 1 } else { codes.small()? });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_are_read_as_they_were_written() {
        let all = [(0, 1), (1, 3), (500, 1), (70_000, 200)];
        let mut postings = Postings::default();
        all.into_iter().for_each(|(part, count)| postings.push(part, count));
        let mut read = Vec::new();
        assert_eq!(
            Postings::each(&postings.bytes, |part, count| read.push((part, count))),
            Some(())
        );
        assert_eq!(read, all);
        let cut = &postings.bytes[..postings.bytes.len() - 1];
        assert_eq!(Postings::each(cut, |_, _| {}), None);
        assert_eq!(Postings::each(&[], |_, _| {}), None);
    }
}
