//! One file a runner: how a case's host is started and how a call reaches it.

pub mod component;
pub mod mcp;
pub mod mcp_client;
pub mod node;
