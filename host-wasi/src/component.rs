//! The component: connects the bindings generated from `wit/` to [`Plugin`].

use std::cell::RefCell;

use serde_json::{Map, Value, json};

use crate::Plugin;

#[allow(missing_docs, reason = "generated from `wit/`, which documents each item")]
mod bindings {
    wit_bindgen::generate!({ path: "wit", world: "plugin", generate_all });
}

use bindings::exports::agent_memory::plugin::types::Error;
use bindings::exports::agent_memory::plugin::{self as exported, toolbox};

struct Component;

bindings::export!(Component with_types_in bindings);

thread_local! {
    /// The plugin, which is made from the environment at the first call.
    static PLUGIN: RefCell<Option<Plugin>> = const { RefCell::new(None) };
}

/// Runs a request on the plugin.
fn with(
    request: impl FnOnce(&mut Plugin) -> Result<String, crate::Error>,
) -> Result<String, Error> {
    PLUGIN.with_borrow_mut(|plugin| {
        let plugin = match plugin {
            Some(plugin) => plugin,
            None => plugin.insert(Plugin::new(&|name| std::env::var(name).ok())?),
        };
        Ok(request(plugin)?)
    })
}

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        Error { code: error.code, message: error.message, json: error.json }
    }
}

impl toolbox::Guest for Component {
    fn list_tools() -> Result<String, Error> {
        with(|plugin| Ok(plugin.list_tools()))
    }

    fn call(name: String, arguments: String) -> Result<String, Error> {
        with(|plugin| plugin.call(&name, &arguments))
    }

    fn read_resource(uri: String) -> Result<String, Error> {
        with(|plugin| plugin.read_resource(&uri))
    }

    fn complete(
        uri_template: String,
        argument: String,
        value: String,
        others: String,
    ) -> Result<String, Error> {
        with(|plugin| plugin.complete(&uri_template, &argument, &value, &others))
    }
}

/// Implements the interfaces that have a function for each tool.
macro_rules! export_tools {
    ($($interface:ident {
        $($function:ident = $tool:literal ($($parameter:ident: $kind:ty),*);)*
    })*) => {$(
        impl crate::component::exported::$interface::Guest for crate::component::Component {
            $(fn $function(
                $($parameter: $kind),*
            ) -> Result<String, crate::component::Error> {
                let arguments = [$((stringify!($parameter), serde_json::json!($parameter))),*];
                crate::component::with(|plugin| {
                    plugin.call($tool, &crate::component::object(arguments))
                })
            })*
        }
    )*};
}

mod functions;

/// The arguments of a tool as a JSON object. A parameter that is `None` is left out.
fn object<const N: usize>(arguments: [(&str, Value); N]) -> String {
    let given = arguments.into_iter().filter(|(_, value)| !value.is_null());
    let name = |name: &str| name.trim_start_matches("r#").to_owned();
    let object: Map<_, _> = given.map(|(parameter, value)| (name(parameter), value)).collect();
    json!(object).to_string()
}
