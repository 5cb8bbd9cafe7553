//! Commands about session logs.

pub mod demo;
mod findings;
pub mod validate;
