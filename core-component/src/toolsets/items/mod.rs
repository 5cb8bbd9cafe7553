//! The `items` toolset: programs keep JSON objects under keys in namespaces. It follows LangGraph's
//! `BaseStore`, with the same filters, limits and order of a batch.
//!
//! A namespace is a list of labels, such as `["users", "ada", "facts"]`. Items are rows of one
//! database, SQLite or PostgreSQL. A batch with a put or a delete is one transaction. No answer has
//! an expired item.

mod batch_items;
mod database;
mod delete_item;
mod error;
mod fields;
mod filter;
mod forget;
mod get_item;
mod item;
mod list_namespaces;
mod namespace;
mod place;
mod put_item;
mod ranked;
mod reach;
mod resume;
mod scope;
mod search;
mod search_items;
mod settings;
mod transaction;

use crate::tool::ErasedTool;
use crate::toolset::Toolset;

pub(crate) const TOOLSET: Toolset = Toolset {
    name: "items",
    title: "Items",
    description: "JSON objects under keys in namespaces, for all repositories",
    is_default: false,
    settings: settings::SETTINGS,
    check: |settings| settings.of::<settings::ItemsSettings>("items").map(drop),
    places: &[place::FILE],
    tools: &[
        ErasedTool::new::<search_items::SearchItems>(),
        ErasedTool::new::<get_item::GetItem>(),
        ErasedTool::new::<put_item::PutItem>(),
        ErasedTool::new::<delete_item::DeleteItem>(),
        ErasedTool::new::<list_namespaces::ListNamespaces>(),
        ErasedTool::new::<batch_items::BatchItems>(),
    ],
    resources: None,
    prompts: &[],
    complete: |_, _| Ok(Vec::new()),
    follow_ups: None,
    left_out_by: None,
    search: Some(search::SOURCE),
    resume: Some(resume::RESUME),
    forget: Some(forget::FORGET),
};
