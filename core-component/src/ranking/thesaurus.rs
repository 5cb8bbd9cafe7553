//! Stems of words that mean nearly the same, from a table that `scripts/thesaurus` makes.
//!
//! The table has common English words, without names, numbers and stop words. Numbers in it are
//! little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 2 | how many stems there are |
//! | 4 for each block | where the block begins, counted from the first one |
//! | the rest | the blocks, each with the entries of 16 stems, in byte order over all |
//!
//! | bytes of an entry | what |
//! |---|---|
//! | 1 | how many bytes the stem has in common with the stem before it in the block |
//! | 1 | how many bytes follow them |
//! | 1 | `n`, how many neighbours the stem has |
//! | | those following bytes |
//! | 2 `n` | the neighbours, nearest first: their numbers in the order of the table |
//! | `n` / 2, rounded up | their steps, 4 bits each, low bits first |
//!
//! A step from 0 to 15 is one of sixteen equal ranges between `LEAST_COSINE` and 1.

static TABLE: &[u8] = include_bytes!("thesaurus.bin");

const STEMS_PER_BLOCK: usize = 16;

/// Words whose vectors have a smaller cosine are not neighbours.
pub(super) const LEAST_COSINE: f64 = 0.35;

/// The stems that are nearest to a stem, nearest first, each with its cosine between [`LEAST_COSINE`]
/// and 1. Empty if the stem is not in the table.
pub(super) fn neighbours(stem: &str) -> impl Iterator<Item = (String, f64)> {
    find(stem).unwrap_or_default().neighbours()
}

/// The neighbours of one stem.
#[derive(Clone, Copy, Default)]
struct Row {
    numbers: &'static [[u8; 2]],
    steps: &'static [u8],
}

impl Row {
    fn neighbours(self) -> impl Iterator<Item = (String, f64)> {
        self.numbers.iter().enumerate().filter_map(move |(at, number)| {
            let stem = stem_at(usize::from(u16::from_le_bytes(*number)))?;
            let step = (self.steps[at / 2] >> (4 * (at % 2))) & 15;
            Some((stem, cosine(step)))
        })
    }
}

/// The cosine at the middle of a step.
fn cosine(step: u8) -> f64 {
    LEAST_COSINE + (1.0 - LEAST_COSINE) * (f64::from(step) + 0.5) / 16.0
}

fn find(stem: &str) -> Option<Row> {
    let after = offsets().partition_point(|offset| first_stem(*offset) <= stem.as_bytes());
    let mut entries = Entries::from(*offsets().get(after.checked_sub(1)?)?);
    (0..STEMS_PER_BLOCK).find_map(|_| entries.next_row().filter(|_| entries.stem == stem))
}

fn stem_at(number: usize) -> Option<String> {
    let mut entries = Entries::from(*offsets().get(number / STEMS_PER_BLOCK)?);
    for _ in 0..=number % STEMS_PER_BLOCK {
        entries.next_row()?;
    }
    Some(entries.stem)
}

fn len() -> usize {
    usize::from(u16::from_le_bytes([TABLE[0], TABLE[1]]))
}

fn offsets() -> &'static [[u8; 4]] {
    let blocks = len().div_ceil(STEMS_PER_BLOCK);
    TABLE[2..2 + 4 * blocks].as_chunks().0
}

fn block_at(offset: [u8; 4]) -> &'static [u8] {
    &TABLE[2 + 4 * offsets().len() + u32::from_le_bytes(offset) as usize..]
}

/// The first stem of a block, which is stored in full.
fn first_stem(offset: [u8; 4]) -> &'static [u8] {
    let block = block_at(offset);
    &block[3..3 + usize::from(block[1])]
}

/// Reads the entries one after another, from the beginning of a block.
struct Entries {
    bytes: &'static [u8],
    /// The stem of the last entry that was read.
    stem: String,
}

impl Entries {
    fn from(offset: [u8; 4]) -> Self {
        Self { bytes: block_at(offset), stem: String::new() }
    }

    fn next_row(&mut self) -> Option<Row> {
        let ([shared, following, neighbours], bytes) = self.bytes.split_first_chunk()?;
        let neighbours = usize::from(*neighbours);
        let (following, bytes) = bytes.split_at(usize::from(*following));
        let (numbers, bytes) = bytes.split_at(2 * neighbours);
        let (steps, bytes) = bytes.split_at(neighbours.div_ceil(2));
        self.bytes = bytes;
        self.stem.truncate(usize::from(*shared));
        self.stem.extend(following.iter().map(|byte| char::from(*byte)));
        Some(Row { numbers: numbers.as_chunks().0, steps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::Language;
    use crate::words::Role;

    fn stem(word: &str) -> String {
        Language::English.stem(word, Role::Word).into_owned()
    }

    fn all_stems() -> Vec<String> {
        (0..len()).map(|number| stem_at(number).unwrap()).collect()
    }

    fn is_neighbour(word: &str, of: &str) -> bool {
        let wanted = stem(word);
        neighbours(&stem(of)).any(|(other, _)| other == wanted)
    }

    #[test]
    fn words_that_mean_nearly_the_same_are_neighbours_of_each_other() {
        for (word, other) in [
            ("car", "vehicle"),
            ("doctor", "physician"),
            ("purchase", "buy"),
            ("movie", "film"),
            ("child", "kid"),
            ("error", "mistake"),
            ("collide", "collision"),
            ("start", "begin"),
            ("job", "employment"),
            ("repair", "fix"),
            ("illness", "disease"),
            ("street", "road"),
        ] {
            assert!(is_neighbour(word, other), "{word} of {other}");
            assert!(is_neighbour(other, word), "{other} of {word}");
        }
    }

    #[test]
    fn words_of_different_things_are_no_neighbours() {
        for (word, other) in [("car", "banana"), ("doctor", "guitar"), ("buy", "mountain")] {
            assert!(!is_neighbour(word, other), "{word} of {other}");
        }
    }

    #[test]
    fn names_numbers_and_stop_words_are_not_in_the_table() {
        let stems = all_stems();
        for word in [
            "john", "mary", "tom", "anna", "jack", "ruby", "smith", "paris", "london", "china",
            "july", "march", "monday", "seven", "third", "hundred", "the", "own", "doing",
        ] {
            let stem = stem(word);
            assert!(stems.binary_search(&stem).is_err(), "{word}");
            assert_eq!(neighbours(&stem).count(), 0, "{word}");
        }
    }

    #[test]
    fn a_text_that_is_no_stem_of_the_table_has_no_neighbours() {
        for text in ["", "a", "ca", "carr", "zzzz", "~", "Car", "größe", "東京", "v2"] {
            assert_eq!(neighbours(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn every_stem_is_found_and_has_other_stems_as_neighbours_nearest_first() {
        let stems = all_stems();
        assert!(stems.len() > 8_000);
        assert!(stems.is_sorted_by(|a, b| a < b));
        for stem in &stems {
            assert!(find(stem).is_some(), "{stem}");
            let neighbours: Vec<(String, f64)> = neighbours(stem).collect();
            assert!(neighbours.len() <= 16, "{stem}");
            assert!(neighbours.is_sorted_by(|a, b| a.1 >= b.1), "{stem}");
            for (other, cosine) in neighbours {
                assert!(stems.binary_search(&other).is_ok(), "{stem}: {other}");
                assert_ne!(*stem, other);
                assert!(cosine > LEAST_COSINE && cosine < 1.0, "{stem}: {other}");
            }
        }
    }

    #[test]
    fn the_table_is_small() {
        assert!(TABLE.len() <= 450_000);
    }
}
