//! A program without HTTP has no tokens: its only client has all rights of the process.

use super::super::server::{Request, Server};
use crate::{AgentMemory, Caller, Reach};
use rmcp::ErrorData;
use std::future;

impl Server {
    pub(super) fn caller_over_http(&self, _: &Request) -> Result<Option<Caller>, ErrorData> {
        Ok(None)
    }

    pub(in crate::mcp) fn memory_of<'a>(&'a self, _: &'a Request) -> &'a AgentMemory {
        &self.offered
    }

    pub(in crate::mcp) fn client<'a>(&self, _: &'a Request) -> &'a str {
        ""
    }

    pub(in crate::mcp) fn reach(&self, _: &Request) -> Reach {
        Reach::default()
    }

    pub(in crate::mcp) fn may_go_on(&self, _: &Request) -> bool {
        true
    }

    pub(in crate::mcp) async fn shut_out(&self, _: &Request) {
        future::pending().await
    }
}
