//! Compares agent-memory with its parts and with other programs, in one run. Ratios are printed first,
//! since absolute times depend on the machine.

mod append_entry;
mod comparison;
mod contestants;
mod conversation;
mod cpu;
mod figure;
mod http;
mod languages;
mod layers;
mod load;
mod machine;
#[cfg(unix)]
mod postgres;
mod programs;
mod read_summary;
mod records;
mod run;
mod search;
mod sizes;
mod start;
mod stores;
mod table;
mod texts;
mod work;

use std::process::ExitCode;

use clap::Parser;

use run::Bench;
pub use run::How;

fn main() -> ExitCode {
    match Bench::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}
