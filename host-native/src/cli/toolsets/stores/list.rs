use super::target::{Open, PLACE, Target, of_storage};
use crate::cli::output::{print, print_json, print_note};
use crate::cli::{Error, help};
use clap::Args;
use serde::Deserialize;
use serde_json::{Value, json};

/// List the stores, or the memories of a store.
///
/// A line has the name of a store and its directory, or the path of a memory, the time of its last
/// change, its length in tokens and its expiry if it has one. A category ends in a slash, and its
/// line has the number of its memories and its description. Tabs separate the columns. A store that
/// cannot be used is listed with the path in the registry, and standard error gets the reason.
#[derive(Debug, Args)]
#[command(after_long_help = help::sections(&[
    include_str!("help/list.txt"),
    include_str!("help/status.txt"),
]))]
pub(super) struct List {
    /// The store whose memories to list [default: list the stores]
    name: Option<String>,

    /// The category [default: the root of the store]
    category: Option<String>,

    /// List the categories below it, too
    #[arg(long, requires = "name")]
    recursive: bool,

    /// List expired memories, too
    #[arg(long, requires = "name")]
    include_expired: bool,

    /// The maximum number of memories, up to 1000 [default: 200]
    #[arg(long, value_name = "N", requires = "name")]
    limit: Option<u32>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    target: Target,
}

#[derive(Deserialize)]
struct Page {
    memories: Vec<Memory>,
    subcategories: Vec<Subcategory>,
    has_more: bool,
}

#[derive(Deserialize)]
struct Memory {
    path: String,
    token_estimate: Option<u64>,
    updated_at: Option<String>,
    expires_at: Option<String>,
}

#[derive(Deserialize)]
struct Subcategory {
    path: String,
    memory_count: Option<u64>,
    description: Option<String>,
}

impl List {
    pub(super) fn run(self) -> Result<(), Error> {
        let target = self.target.open()?;
        let Some(name) = &self.name else { return list_stores(&target, self.json) };
        let mut arguments = json!({
            "store": name,
            "recursive": self.recursive,
            "include_expired": self.include_expired,
        });
        if let Some(category) = &self.category {
            arguments["category"] = json!(category);
        }
        if let Some(limit) = self.limit {
            arguments["limit"] = json!(limit);
        }
        let page: Value = target.call("list_memories", &arguments)?;
        if self.json {
            return print_json(&page.to_string());
        }
        let page: Page = serde_json::from_value(page).map_err(Error::storage)?;
        page.subcategories.iter().try_for_each(|category| print(&category.line()))?;
        page.memories.iter().try_for_each(|memory| print(&memory.line()))?;
        if page.has_more {
            let count = page.memories.len();
            print_note(&format!(
                "there are more than these {count}: raise `--limit`, or name a category"
            ));
        }
        Ok(())
    }
}

impl Memory {
    fn line(&self) -> String {
        let updated_at = self.updated_at.as_deref().unwrap_or("-");
        let tokens = match self.token_estimate {
            Some(1) => "1 token".to_owned(),
            Some(count) => format!("{count} tokens"),
            None => "-".to_owned(),
        };
        let expiry = self.expires_at.iter().map(|at| format!("\texpires {at}"));
        format!("{}\t{updated_at}\t{tokens}{}", self.path, expiry.collect::<String>())
    }
}

impl Subcategory {
    fn line(&self) -> String {
        let memories = match self.memory_count {
            Some(1) => "1 memory".to_owned(),
            Some(count) => format!("{count} memories"),
            None => "-".to_owned(),
        };
        // A description may have lines or tabs of its own.
        let words = self.description.iter().flat_map(|text| text.split_whitespace());
        let description = words.collect::<Vec<_>>().join(" ");
        format!("{}/\t{memories}\t{description}", self.path).trim_end().to_owned()
    }
}

fn list_stores(target: &Open, as_json: bool) -> Result<(), Error> {
    let mut stores = Vec::new();
    for (name, registered) in target.memory.registered(PLACE).map_err(of_storage)? {
        let directory = target.memory.family_directory(PLACE, &name);
        if as_json {
            let (directory, error) = match directory {
                Ok(directory) => (Some(directory), None),
                Err(error) => (None, Some(error.message)),
            };
            stores.push(json!({
                "name": name,
                "path": registered.path,
                "description": registered.description,
                "directory": directory,
                "error": error,
            }));
            continue;
        }
        match directory {
            Ok(directory) => print(&format!("{name}\t{directory}"))?,
            Err(error) => {
                print(&format!("{name}\t{}", registered.path))?;
                print_note(&error.message);
            }
        }
    }
    if as_json { print_json(&json!({ "stores": stores }).to_string()) } else { Ok(()) }
}
