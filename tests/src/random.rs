//! A small generator of pseudorandom numbers, and the seed of a test.

use std::env;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below a bound, which must not be 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// A random item.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// The seed in `AGENT_MEMORY_TEST_SEED`, or else the default.
pub fn seed_or(default: u64) -> u64 {
    match env::var("AGENT_MEMORY_TEST_SEED") {
        Ok(text) => text.parse().expect("AGENT_MEMORY_TEST_SEED is a number"),
        Err(_) => default,
    }
}

/// The command that repeats a test of this crate with a seed.
pub fn replay(file: &str, test: &str, seed: u64) -> String {
    format!(
        "AGENT_MEMORY_TEST_SEED={seed} cargo test --release -p agent-memory-tests --test {file} {test}"
    )
}
