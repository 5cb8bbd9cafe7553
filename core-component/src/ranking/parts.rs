//! The parts of an entry. The best one decides most of its score, so that a long text is found as
//! well as a short one.

use super::constants::{LEAST_PART, LEAST_REST, MOST_PART};

/// The lengths of an entry's parts, in stems. There is at least one.
pub(crate) type Lengths = Vec<u8>;

/// Divides an entry into parts as its stems are added, line by line.
#[derive(Default)]
pub(crate) struct Parts {
    ended: Lengths,
    /// The number of stems so far in the current part.
    open: u8,
}

impl Parts {
    /// Takes the next stem, and returns the index of its part. If [`end`](Self::end) returns fewer
    /// parts, the stem belongs to the last part.
    pub fn add_stem(&mut self) -> u32 {
        if self.open == MOST_PART {
            self.end_part();
        }
        self.open += 1;
        self.ended.len() as u32
    }

    pub fn end_line(&mut self) {
        if self.open >= LEAST_PART {
            self.end_part();
        }
    }

    pub fn end(mut self) -> Lengths {
        match self.ended.last_mut() {
            Some(last) if self.open < LEAST_REST => *last += self.open,
            _ => self.end_part(),
        }
        self.ended
    }

    fn end_part(&mut self) {
        self.ended.push(std::mem::take(&mut self.open));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(lines: &[usize]) -> Lengths {
        let mut parts = Parts::default();
        for stems in lines {
            for _ in 0..*stems {
                parts.add_stem();
            }
            parts.end_line();
        }
        parts.end()
    }

    #[test]
    fn lines_are_joined_to_parts_and_long_ones_are_divided() {
        for (lines, expected) in [
            (&[][..], &[0][..]),
            (&[5], &[5]),
            (&[40, 40, 40], &[80, 40]),
            (&[63, 1, 31], &[95]),
            (&[64, 32], &[64, 32]),
            (&[300], &[128, 128, 44]),
            (&[128, 128, 31], &[128, 159]),
            (&[64, 0, 0, 2], &[66]),
        ] {
            assert_eq!(lengths(lines), expected, "{lines:?}");
        }
    }
}
