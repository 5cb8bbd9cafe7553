//! `bench append-entry`: appends of one entry to a log of 1 KB, and to one of 100 KB.

use std::io;
use std::path::Path;

use crate::How;
use crate::comparison::{Aim, Comparison, Quantity};
use crate::contestants::{BareAppend, Component, CoreThenBare, Library, Lineup};
use crate::work::Work;

/// The aim for the component's processor time, relative to the same code compiled natively.
const COMPONENT: Aim = Aim { contestant: Component::NAME, quantity: Quantity::Cpu, at_most: 2.0 };

/// The aim for the time on disk, relative to a bare durable replace.
const LIBRARY: Aim = Aim { contestant: Library::NAME, quantity: Quantity::Wall, at_most: 1.2 };

pub fn comparisons(how: &How, directory: &Path) -> io::Result<Vec<Comparison>> {
    let sizes = [
        ("`append_entry` to a log of 1 KB", 1 << 10, [20, 5]),
        ("`append_entry` to a log of 100 KB", 100 << 10, [5, 5]),
    ];
    let mut comparisons = Vec::new();
    for (title, bytes, turns) in sizes {
        let lineup = Lineup {
            title,
            work: Work::new(bytes, how.either(2, 20)),
            calls: &|work, repository| work.appends(repository),
            turns: how.either([1, 1], turns),
        };
        comparisons.push(lineup.in_memory(vec![COMPONENT])?);
        let bare = |disk| Box::new(BareAppend::new(disk)) as Box<_>;
        let least = |disk| Box::new(CoreThenBare::new(disk)) as Box<_>;
        comparisons.push(lineup.on_disk(directory, &[&bare, &least], vec![LIBRARY])?);
    }
    Ok(comparisons)
}
