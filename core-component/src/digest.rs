//! Numbers that stand for texts.

use sha2::{Digest, Sha256};

/// A number for a text, so that a derived database does not contain the text: 6 bytes of its SHA-256.
/// SQLite stores such an integer in 6 bytes.
pub(crate) fn number_of(text: &str) -> i64 {
    let digest = Sha256::digest(text);
    let (first, _) = digest.split_first_chunk().expect("a digest has 32 bytes");
    i64::from_be_bytes(*first) >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_number_that_stays() {
        assert_eq!(number_of("collid"), number_of("collid"));
        assert_ne!(number_of("collid"), number_of("collis"));
        assert_eq!(number_of("test"), 0x9f86_d081_884c_7d65_u64 as i64 >> 16);
    }
}
