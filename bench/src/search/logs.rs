//! A question to a repository with many session logs.

use std::fs;
use std::io;
use std::path::Path;
use std::rc::Rc;

use serde_json::json;

use super::indexed;
use super::question::{Bm25, QUESTION};
use crate::How;
use crate::comparison::Comparison;
use crate::contestants::{Asked, path_text, serve};
use crate::figure::thousands;
use crate::records::Memory;
use crate::texts::{FIRST_MOMENT, Moment};
use crate::work::{self, AGENT, Calls, Work};

/// The number of entries in a log, each of 1 KB.
const ENTRIES: usize = 5;
const DAY: i64 = 24 * 60 * 60 * 1_000;

/// A comparison with the bare engine, which ranks the same entries.
pub fn question(how: &How, directory: &Path) -> io::Result<Comparison> {
    let logs = how.either(4, 1_000);
    let calls = how.either(2, 10);
    let repository = Rc::new(work::repository(directory)?);
    write(repository.path(), logs)?;
    let root = path_text(repository.path())?.to_owned();
    let arguments = vec![json!({"query": QUESTION, "repo_root": root}); calls];
    let asked = Calls { tool: "search_memory", arguments };
    let server = Asked::ours(serve(repository.path())?, repository, &asked)?;
    let texts = Memory::texts(logs * ENTRIES);
    Ok(Comparison {
        title: format!("a question to {} logs of 5 KB (aim: under 20 ms)", thousands(logs)),
        contestants: vec![
            Box::new(Bm25::new(directory, texts, calls)?),
            Box::new(indexed(server, logs * ENTRIES, calls)?),
        ],
        turns: 1,
        aims: Vec::new(),
        absent: Vec::new(),
    })
}

/// Writes a log for each of some days.
fn write(repository: &Path, logs: usize) -> io::Result<()> {
    let empty = Work::new(0, 1);
    empty.put(repository)?;
    let first = empty.logs(repository).remove(0);
    let template = fs::read_to_string(&first)?;
    let day = first.file_stem().and_then(|stem| stem.to_str()).expect("a day").to_owned();
    fs::remove_file(&first)?;
    let heading = format!("## {}\n", work::SECTION);
    for log in 0..logs {
        let date = &Moment(FIRST_MOMENT - log as i64 * DAY).to_string()[..10];
        let entries = (log * ENTRIES..(log + 1) * ENTRIES)
            .map(|number| format!("\n{}\n", Memory::new(number).content()));
        let filled = format!("{heading}{}", entries.collect::<String>());
        let text = template.replace(&day, date).replacen(&heading, &filled, 1);
        fs::write(first.with_file_name(format!("{date}.md")), text)?;
    }
    assert!(first.ends_with(format!("{AGENT}/logs/{day}.md")), "logs are where the tools look");
    Ok(())
}
