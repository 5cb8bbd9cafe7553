//! Texts and moments of the rows that fill a database.

use std::fmt;

/// 2025-01-20T10:00:00Z, in milliseconds.
pub const FIRST_MOMENT: i64 = 1_737_367_200_000;

const WORDS: &str = "the parser reads a line twice where fence is open outline looks at it once we \
    went through failing cases with new runner and found that two of them had been right all along \
    others were one mistake in how end section measure before after keep what faster write down why \
    figures command document holds log because person opens file see docs tools every change takes \
    lock from queue until commit durable directory synced first then renamed over old version small \
    large index column filter order page count term folded text candidate trigram confirms answer \
    client server request notification schema argument limit error message says do next writer waits \
    busy medium full power loss backup restore copy moved away another program thread process host";

/// Appends words until a text has `bytes` bytes. `number` determines the words.
pub fn lengthened(mut text: String, number: usize, bytes: usize) -> String {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    // SplitMix64.
    let mut state = number as u64;
    while text.len() < bytes {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        text.push(' ');
        text += words[((z ^ (z >> 31)) % words.len() as u64) as usize];
    }
    text
}

/// The milliseconds since 1970 of a date.
pub struct Moment(pub i64);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let days = self.0.div_euclid(86_400_000);
        let rest = self.0.rem_euclid(86_400_000);
        // Howard Hinnant's `civil_from_days`.
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let of_era = shifted.rem_euclid(146_097);
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        let year = year + era * 400 + i64::from(month <= 2);
        let seconds = rest / 1000;
        let milliseconds = rest % 1000;
        let hours = seconds / 3600;
        let minutes = seconds / 60 % 60;
        write!(f, "{year:04}-{month:02}-{day:02}T")?;
        write!(f, "{hours:02}:{minutes:02}:{:02}.{milliseconds:03}Z", seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_dates() {
        assert_eq!(Moment(FIRST_MOMENT).to_string(), "2025-01-20T10:00:00.000Z");
        assert_eq!(Moment(1_772_323_199_999).to_string(), "2026-02-28T23:59:59.999Z");
        assert_eq!(Moment(1_835_395_200_000).to_string(), "2028-02-29T00:00:00.000Z");
    }
}
