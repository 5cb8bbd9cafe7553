//! Runs the targets without libFuzzer, on machines without a C++ compiler. It lists targets, writes
//! their seeds, replays an input, or tries random changes of the seeds.

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, panic};

use agent_memory_fuzz::mutation::{damaged, mutated};
use agent_memory_fuzz::random::Random;
use agent_memory_fuzz::targets::{self, Target};

const USAGE: &str = "usage: fuzz-unguided list
       fuzz-unguided seeds TARGET DIR
       fuzz-unguided replay TARGET FILE
       fuzz-unguided run TARGET SECONDS RUNS SEED DIR";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["list"] => targets::TARGETS.iter().for_each(|target| println!("{}", target.name)),
        ["seeds", target, directory] => write_seeds(targets::named(target), Path::new(directory)),
        ["replay", target, file] => {
            (targets::named(target).run)(&fs::read(file).expect("the input is readable"));
        }
        ["run", target, seconds, runs, seed, directory] => {
            let length = Duration::from_secs(seconds.parse().expect("SECONDS is a number"));
            let runs = runs.parse().expect("RUNS is a number");
            let random = Random::new(seed.parse().expect("SEED is a number"));
            run(targets::named(target), length, runs, random, Path::new(directory));
        }
        _ => panic!("{USAGE}"),
    }
}

fn write_seeds(target: &Target, directory: &Path) {
    fs::create_dir_all(directory).expect("the directory of seeds");
    for (index, seed) in target.short_seeds().iter().enumerate() {
        fs::write(directory.join(format!("seed-{index:04}")), seed).expect("a seed is written");
    }
}

/// Runs the target on seeds with random changes, at most `runs` times and for `length`. Writes the
/// input of the first panic to `directory`.
fn run(target: &Target, length: Duration, runs: u64, mut random: Random, directory: &Path) {
    let seeds = target.short_seeds();
    let start = Instant::now();
    let mut count = 0_u64;
    while count < runs && start.elapsed() < length {
        let mut input = random.pick(&seeds).clone();
        for _ in 0..=random.below(3) {
            input = match random.below(3) {
                0 => damaged(&input, &mut random),
                _ => mutated(&input, &mut random),
            };
        }
        input.truncate(4096);
        if panic::catch_unwind(|| (target.run)(&input)).is_err() {
            fs::write(directory.join("crash-unguided"), &input).expect("the input is written");
            std::process::exit(1);
        }
        count += 1;
    }
    println!("stat::number_of_executed_units: {count}");
}
