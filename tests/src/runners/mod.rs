//! The runners, a file each: they start a host for a case and pass calls to it.

pub mod component;
pub mod mcp;
pub mod mcp_client;
pub mod node;
