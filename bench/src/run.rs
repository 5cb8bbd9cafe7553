//! The command line: which parts run, and where their figures go.

use std::io;
use std::path::Path;

use clap::{Args, Parser, Subcommand};

use crate::comparison::Comparison;
use crate::machine::Machine;
use crate::{append_entry, read_summary, records, start, table};

/// Measures agent-memory beside what it is made of.
///
/// Each ratio that has an aim is printed with it. Exits with 2 where something could not be measured.
#[derive(Parser)]
#[command(version)]
pub struct Bench {
    /// What to measure; everything without it.
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    how: How,
}

#[derive(Clone, Copy, Subcommand)]
enum Part {
    /// From exec to the first result of `read_summary`, beside a bare host of the same image.
    Start,
    /// Reads of a summary.
    ReadSummary,
    /// Appends to a log of 1 KB and to one of 100 KB.
    AppendEntry,
    /// Adds, queries and recalls of memories, by how many there are.
    Records,
}

/// How it is measured and shown.
#[derive(Args)]
pub struct How {
    /// Rounds: in each, all contestants take turns.
    #[arg(long, global = true, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// So few calls that the figures mean little: shows that everything runs.
    #[arg(long, global = true)]
    quick: bool,
    /// Measures 1,000,000 memories as well: takes some minutes, and 4 GB of disk.
    #[arg(long, global = true)]
    large: bool,
    /// Measures the SQLite format alone, with 1,000 memories and with so many.
    #[arg(long, global = true, value_name = "NUMBER", conflicts_with_all = ["large", "quick"])]
    memories: Option<usize>,
    /// Prints JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

impl How {
    /// The one for a quick run, or the other.
    pub fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Whether the largest of all is measured, too.
    pub fn large(&self) -> bool {
        self.large
    }

    /// The one number of memories that is of interest.
    pub fn memories(&self) -> Option<usize> {
        self.memories
    }
}

impl Bench {
    /// Measures, and prints what came of it.
    ///
    /// # Errors
    ///
    /// What kept it from measuring.
    pub fn run(self) -> io::Result<()> {
        let Self { part, how } = self;
        // Beside the programs: the system's place for temporary files often is memory, where
        // nothing has to be made durable.
        let directory = std::env::current_exe()?.with_file_name("");
        let parts = match part {
            Some(part) => vec![part],
            None => vec![Part::Start, Part::ReadSummary, Part::AppendEntry, Part::Records],
        };
        let machine = Machine::of(&directory);
        if !how.json {
            println!("{}; medians (least to most of the rounds)", machine.shown());
        }
        let mut all = Vec::new();
        let mut run = |comparison: Comparison| {
            let measured = comparison.run(usize::from(how.rounds))?;
            if !how.json {
                println!("\n{}", table::text(&measured).trim_end());
            }
            all.push(measured);
            Ok(())
        };
        for part in parts {
            part.measure(&how, &directory, &mut run)?;
        }
        if how.json {
            println!("{:#}", table::json(&all, &machine));
        }
        Ok(())
    }
}

impl Part {
    fn measure(
        self,
        how: &How,
        directory: &Path,
        run: &mut dyn FnMut(Comparison) -> io::Result<()>,
    ) -> io::Result<()> {
        let comparisons = match self {
            Self::Start => start::comparisons(how, directory)?,
            Self::ReadSummary => read_summary::comparisons(how, directory)?,
            Self::AppendEntry => append_entry::comparisons(how, directory)?,
            Self::Records => return records::measure(how, directory, run),
        };
        comparisons.into_iter().try_for_each(run)
    }
}
