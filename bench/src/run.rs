//! The command line: it selects the parts to run and prints their figures.

use std::io;
use std::path::Path;

use clap::{Args, Parser, Subcommand};

use crate::comparison::Comparison;
use crate::load::Load;
use crate::machine::Machine;
use crate::sizes::Sizes;
use crate::{
    append_entry, http, languages, layers, read_summary, records, search, start, stores, table,
};

#[cfg(unix)]
use crate::postgres;

/// Compares agent-memory with its parts and with other programs.
///
/// Each ratio is printed with its aim, if it has one. Exits with 2 if something could not be measured.
#[derive(Parser)]
#[command(version)]
pub struct Bench {
    /// The part to measure; all parts by default.
    #[command(subcommand)]
    part: Option<Part>,
    #[command(flatten)]
    how: How,
}

#[derive(Clone, Subcommand)]
enum Part {
    /// From exec to the first result of `read_summary`, compared with a bare host of the same image.
    Start,
    /// Reads of a summary.
    ReadSummary,
    /// Appends to a log of 1 KB and to one of 100 KB.
    AppendEntry,
    /// Adds, queries and recalls of memories, by the number of memories.
    Records,
    /// Questions to `search_memory`, beside the engine's own ranking; the cost and space of the index.
    Search,
    /// Adds, reads and searches of episodes in layers, by the number of episodes.
    Layers,
    /// Adds, lists, recent memories and reindexing of stores, beside bare file operations.
    Stores,
    /// The packages for Node and Python, and the plugin, beside the library: start, and adds.
    Languages,
    /// Calls a second over HTTP, and how long they take, with one client and with 16, beside stdio.
    Http,
    /// Adds and searches of servers that share a PostgreSQL database, beside SQLite; not by default.
    #[cfg(unix)]
    Postgres(postgres::Options),
}

/// Options for measuring and printing.
#[derive(Args)]
pub struct How {
    /// Number of rounds; all contestants take turns in each.
    #[arg(long, global = true, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Make only a few calls, to show that everything runs; the figures mean little.
    #[arg(long, global = true)]
    quick: bool,
    /// Measure 1,000,000 memories as well: takes some minutes, and 4 GB of disk.
    #[arg(long, global = true)]
    large: bool,
    /// Measure records and layers with 1,000 memories and with this number; of records, only SQLite.
    #[arg(long, global = true, value_name = "NUMBER", conflicts_with_all = ["large", "quick"])]
    memories: Option<usize>,
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

impl How {
    /// The first value for a quick run, or else the second.
    pub fn either<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Whether to measure 1,000,000 memories, too.
    pub fn large(&self) -> bool {
        self.large
    }

    /// The only number of memories to measure, besides 1,000.
    pub fn memories(&self) -> Option<usize> {
        self.memories
    }
}

impl Bench {
    /// Measures, and prints the results.
    ///
    /// # Errors
    ///
    /// If a part cannot be measured.
    pub fn run(self) -> io::Result<()> {
        let Self { part, how } = self;
        // Data is stored beside the programs: the system's temporary directory is often in memory,
        // where a sync costs nothing.
        let directory = std::env::current_exe()?.with_file_name("");
        let parts = match part {
            Some(part) => vec![part],
            None => {
                use Part::{
                    AppendEntry, Http, Languages, Layers, ReadSummary, Records, Search, Start,
                    Stores,
                };
                vec![
                    Start,
                    Languages,
                    ReadSummary,
                    AppendEntry,
                    Records,
                    Search,
                    Layers,
                    Stores,
                    Http,
                ]
            }
        };
        let machine = Machine::new(&directory);
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
        let mut all_sizes = Vec::new();
        let mut all_loads = Vec::new();
        for part in parts {
            part.loads(&how, &directory, &mut |load| {
                if !how.json {
                    println!("\n{}", table::load_text(&load).trim_end());
                }
                all_loads.push(load);
            })?;
            if let Some(sizes) = part.measure(&how, &directory, &mut run)? {
                if !how.json {
                    println!("\n{}", table::sizes_text(&sizes).trim_end());
                }
                all_sizes.push(sizes);
            }
        }
        if how.json {
            println!("{:#}", table::json(&all, &all_sizes, &all_loads, &machine));
        }
        Ok(())
    }
}

impl Part {
    /// Measures the rates of calls, for parts that compare rates, and passes each comparison to
    /// `measured`.
    fn loads(&self, how: &How, directory: &Path, measured: &mut dyn FnMut(Load)) -> io::Result<()> {
        let rounds = usize::from(how.rounds);
        match self {
            Self::Http => http::measure(how, directory, rounds)?.into_iter().for_each(measured),
            #[cfg(unix)]
            Self::Postgres(options) => {
                postgres::measure(options, how, directory, rounds, measured)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Runs each comparison. Returns the sizes, if the part measures any.
    fn measure(
        self,
        how: &How,
        directory: &Path,
        run: &mut dyn FnMut(Comparison) -> io::Result<()>,
    ) -> io::Result<Option<Sizes>> {
        let comparisons = match self {
            Self::Start => start::comparisons(how, directory)?,
            Self::Languages => languages::comparisons(how, directory)?,
            Self::ReadSummary => read_summary::comparisons(how, directory)?,
            Self::AppendEntry => append_entry::comparisons(how, directory)?,
            Self::Records => return records::measure(how, directory, run).map(|()| None),
            Self::Search => return search::measure(how, directory, run).map(Some),
            Self::Layers => return layers::measure(how, directory, run).map(|()| None),
            Self::Stores => return stores::measure(how, directory, run).map(|()| None),
            // These parts compare rates, not times: see `loads`.
            Self::Http => return Ok(None),
            #[cfg(unix)]
            Self::Postgres(_) => return Ok(None),
        };
        comparisons.into_iter().try_for_each(run).map(|()| None)
    }
}
