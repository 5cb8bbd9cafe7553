//! A file of an agent's records for tests that damage it.

/// The name of the file.
pub const FILE: &str = "default.json";
/// The name of its backup.
pub const BACKUP: &str = "default.json.backup";

/// The id of the first memory in the file.
pub const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
/// The id of the second memory.
pub const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

/// The file in the layout of the original program. The field `more` belongs to another program.
pub const GOLDEN: &str = r#"{
  "core_memories": [
    {
      "id": "aaaaaaaa-0000-4000-8000-000000000001",
      "type": "core",
      "content": "caf\u00e9 \ud83d\ude00 é",
      "category": "fact",
      "created_at": "2025-01-01T09:30:00.123456",
      "updated_at": "2025-01-01T09:30:00Z",
      "accessed_at": "2025-01-02T08:00:00+01:00",
      "access_count": 3,
      "tags": ["food", "x"],
      "importance": "high",
      "archived": false,
      "more": {"a": [1.50, null]}
    }
  ],
  "learnings": [],
  "tasks": [
    {"id": "bbbbbbbb-0000-4000-8000-000000000002", "content": "t", "created_at": "2025-01-01T07:00:00"}
  ],
  "metadata": {"created_at": "2025-01-01T07:00:00", "updated_at": "2025-01-02T08:00:00"}
}
"#;
