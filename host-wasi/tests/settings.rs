//! The settings of a plugin, from variables of its environment.

use agent_memory_plugin::{Settings, SettingsError};
use serde_json::json;

fn settings(variables: &[(&str, &str)]) -> Result<Settings, SettingsError> {
    let get = |name: &str| {
        let found = variables.iter().find(|(variable, _)| *variable == name);
        found.map(|(_, value)| (*value).to_owned())
    };
    Settings::from_environment(&get)
}

#[test]
fn without_variables_the_default_toolsets_are_mounted() {
    let settings = settings(&[]).unwrap();
    assert_eq!(settings.of_context.toolsets, ["sessions", "memory"]);
    assert!(settings.of_context.own.is_empty());
}

#[test]
fn the_settings_of_toolsets_have_the_variables_of_the_other_hosts() {
    let settings = settings(&[
        ("AGENT_MEMORY_TOOLSET", "records, stores"),
        ("MEMORY_DIR", "/memories"),
        ("AGENT_MEMORY_RECORDS_MAX_BYTES", "1000"),
        ("AGENT_MEMORY_NO_SEARCH", "1"),
        ("AGENT_MEMORY_STORES_CONFIG", "${NOT_EXPANDED}"),
    ]);
    let settings = settings.unwrap().of_context;
    assert_eq!(settings.toolsets, ["records", "stores"]);
    let own = json!({"records": {"max_bytes": 1000}, "memory": {"leave_out": true}});
    assert_eq!(json!(settings.own), own);
}

#[test]
fn a_variable_that_cannot_be_read_is_named() {
    let error = |name, value| settings(&[(name, value)]).unwrap_err().to_string();
    assert_eq!(
        error("AGENT_MEMORY_DURABILITY", "some"),
        "`AGENT_MEMORY_DURABILITY` is `some`: it has to be `full` or `relaxed`"
    );
    for (name, value) in [
        ("AGENT_MEMORY_UTC_OFFSET", "+25:00"),
        ("AGENT_MEMORY_FIXED_CLOCK", "2025-01-20T10:00:00+01:00"),
        ("AGENT_MEMORY_ALLOW", "project"),
        ("AGENT_MEMORY_ALLOW", "/project:."),
        ("AGENT_MEMORY_ALLOW", "/project/../other"),
        ("AGENT_MEMORY_DATA_DIR", "data"),
        ("AGENT_MEMORY_ACCEPT_MODES", "yes"),
        ("AGENT_MEMORY_RECORDS_MAX_BYTES", "-1"),
    ] {
        assert!(error(name, value).contains(name), "{name}");
    }
    assert!(error("MEMORY_DIR", "memories").contains("`memories`"));
    assert!(error("AGENT_MEMORY_TOOLSET", "notes").starts_with("no toolset `notes`; there are"));
}
