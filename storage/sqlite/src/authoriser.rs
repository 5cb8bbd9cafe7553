//! The check of a call's statements. It denies every statement that reaches beyond the database or
//! has effects on the connection after the call.

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The allowed pragmas, which only read. `user_version` is allowed, too; a transaction may set it.
const PRAGMAS: [&str; 13] = [
    "data_version", // FTS5 asks for it
    "foreign_key_check",
    "freelist_count",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "page_count",
    "page_size",
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
];

/// The allowed pragmas that may have no argument. With one, `page_size` would set something.
const WITHOUT_ARGUMENT: [&str; 4] = ["data_version", "freelist_count", "page_count", "page_size"];

/// SQLite's authoriser of a connection, which checks each statement when it is prepared.
#[derive(Debug)]
pub(super) struct Authoriser {
    is_host: Arc<AtomicBool>,
    /// Whether anything was denied. SQLite's own error does not always say so.
    has_denied: Arc<AtomicBool>,
}

impl Authoriser {
    /// Installs an authoriser on a connection.
    pub fn new(connection: &mut Connection) -> rusqlite::Result<Self> {
        let is_host = Arc::new(AtomicBool::new(false));
        let has_denied = Arc::new(AtomicBool::new(false));
        let asks = is_host.clone();
        let denies = has_denied.clone();
        connection.authorizer(Some(move |asked: AuthContext<'_>| {
            if asks.load(Ordering::Relaxed) || is_granted(&asked) {
                Authorization::Allow
            } else {
                denies.store(true, Ordering::Relaxed);
                Authorization::Deny
            }
        }))?;
        Ok(Authoriser { is_host, has_denied })
    }

    /// Whether the authoriser has denied anything since the last `forget`.
    pub fn has_denied(&self) -> bool {
        self.has_denied.load(Ordering::Relaxed)
    }

    pub fn forget(&self) {
        self.has_denied.store(false, Ordering::Relaxed);
    }

    /// Runs work of the host, to which no rule applies.
    pub fn as_host<T>(&self, work: impl FnOnce() -> T) -> T {
        self.is_host.store(true, Ordering::Relaxed);
        let done = work();
        self.is_host.store(false, Ordering::Relaxed);
        done
    }
}

/// Whether a call may do this. What has no rule here is denied. Node's host has the same rules, in
/// `host-node/src/storage/database/authoriser.ts`.
fn is_granted(asked: &AuthContext<'_>) -> bool {
    match &asked.action {
        AuthAction::Read { .. } | AuthAction::Recursive | AuthAction::Select => true,
        AuthAction::Function { function_name } => {
            !["load_extension", "fts3_tokenizer"].contains(function_name)
        }
        AuthAction::Pragma { pragma_name, pragma_value } => {
            let name = pragma_name.to_ascii_lowercase();
            let is_read = PRAGMAS.contains(&name.as_str())
                && (pragma_value.is_none() || !WITHOUT_ARGUMENT.contains(&name.as_str()));
            is_read || name == "user_version"
        }
        // `ALTER TABLE` also updates rows of `temp`.
        AuthAction::Update { .. } => true,
        // `CREATE TABLE temp.t` is reported like an ordinary table, so the schema decides.
        AuthAction::AlterTable { .. }
        | AuthAction::Analyze { .. }
        | AuthAction::CreateIndex { .. }
        | AuthAction::CreateTable { .. }
        | AuthAction::CreateTrigger { .. }
        | AuthAction::CreateView { .. }
        | AuthAction::CreateVtable { .. }
        | AuthAction::Delete { .. }
        | AuthAction::DropIndex { .. }
        | AuthAction::DropTable { .. }
        | AuthAction::DropTrigger { .. }
        | AuthAction::DropView { .. }
        | AuthAction::DropVtable { .. }
        | AuthAction::Insert { .. }
        | AuthAction::Reindex { .. } => asked.database_name != Some("temp"),
        _ => false,
    }
}
