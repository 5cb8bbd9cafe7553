//! Runs one target with libFuzzer. `FUZZ_TARGET` names the target; the arguments are libFuzzer's.

#![no_main]

use std::sync::OnceLock;

use agent_memory_fuzz::mutation::mutated;
use agent_memory_fuzz::random::Random;
use agent_memory_fuzz::targets::{self, Target};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

static TARGET: OnceLock<&Target> = OnceLock::new();

fuzz_target!(
    init: {
        let name = std::env::var("FUZZ_TARGET").expect("FUZZ_TARGET names a target");
        TARGET.set(targets::named(&name)).ok();
    },
    |input: &[u8]| -> () { (TARGET.get().expect("set at the start").run)(input) }
);

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut random = Random::new(seed.into());
    if random.below(2) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let mut changed = mutated(&data[..size], &mut random);
    changed.truncate(max_size);
    data[..changed.len()].copy_from_slice(&changed);
    changed.len()
});
