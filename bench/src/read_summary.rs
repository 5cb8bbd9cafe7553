//! `bench read-summary`: reads of a summary of 1 KB.

use std::io;
use std::path::Path;

use crate::How;
use crate::comparison::Comparison;
use crate::contestants::{BareRead, Lineup};
use crate::work::{Calls, Work};

pub fn comparisons(how: &How, directory: &Path) -> io::Result<Vec<Comparison>> {
    let reads = how.either(2, 100);
    let lineup = Lineup {
        title: "`read_summary`, of 1 KB",
        work: Work::new(0, 1),
        calls: &|_, repository| Calls::reads(repository, reads),
        turns: how.either([1, 1], [5, 5]),
    };
    let bare = |disk| Box::new(BareRead::new(disk)) as Box<_>;
    Ok(vec![lineup.in_memory(Vec::new())?, lineup.on_disk(directory, &[&bare], Vec::new())?])
}
