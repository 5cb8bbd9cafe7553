//! Ids of new memories.

use sha2::{Digest, Sha256};

/// A UUID v4 (RFC 9562) from a call's random seed. If the id of one attempt is in use, the next
/// attempt gives another.
pub(super) fn new_id(seed: u64, attempt: u32) -> String {
    let digest = Sha256::new()
        .chain_update(b"agent-memory record id")
        .chain_update(seed.to_be_bytes())
        .chain_update(attempt.to_be_bytes())
        .finalize();
    let mut bytes: [u8; 16] = digest[..16].try_into().expect("a digest has 32 bytes");
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let [a, b, c, d, e] = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    format!("{a}-{b}-{c}-{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_seed_and_attempt_gives_another_uuid_of_version_four() {
        let ids = [new_id(1, 0), new_id(1, 1), new_id(2, 0)];
        for id in &ids {
            assert_eq!(id.len(), 36);
            assert_eq!((&id[14..15], id[8..9].as_ref()), ("4", "-"));
            assert!("89ab".contains(&id[19..20]));
        }
        assert!(ids[0] != ids[1] && ids[0] != ids[2] && ids[1] != ids[2]);
        assert_eq!(new_id(1, 0), ids[0]);
    }
}
