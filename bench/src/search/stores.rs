//! A question to a store with many memories.

use std::io;
use std::path::Path;

use super::question::Bm25;
use super::{calls, indexed};
use crate::How;
use crate::comparison::Comparison;
use crate::figure::thousands;
use crate::stores::{Filled, Shape, server};

/// A comparison with the bare engine, which ranks the same memories.
pub fn question(how: &How, directory: &Path) -> io::Result<Comparison> {
    let shape = Shape::many(how);
    let memories = shape.all();
    let asked = calls(how);
    let calls = asked.arguments.len();
    let server = server(Filled::new(directory, shape)?.directory, &asked)?;
    let texts = (0..memories).map(|number| shape.page(number).content());
    Ok(Comparison {
        title: format!(
            "a question to a store of {} memories in {} categories",
            thousands(memories),
            shape.categories
        ),
        contestants: vec![
            Box::new(Bm25::new(directory, texts, calls)?),
            Box::new(indexed(server, memories, calls)?),
        ],
        turns: 1,
        aims: Vec::new(),
        absent: Vec::new(),
    })
}
