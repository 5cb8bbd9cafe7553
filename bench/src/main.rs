//! Measures agent-memory side by side, in one run, with what it is made of. Ratios come first;
//! absolute times say more about the machine.

mod start;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Measures agent-memory beside what it is made of.
#[derive(Parser)]
#[command(version)]
struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// From exec to the first result of `read_summary`, beside a bare host of the same image. Exits
    /// with 1 where the median ratio is over 3.
    Start(start::Start),
}

fn main() -> ExitCode {
    let done = match Bench::parse().what {
        What::Start(start) => start.run(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::from(2)
        }
    }
}
