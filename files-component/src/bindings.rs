//! The bindings generated from `wit/`, which documents each item.

wit_bindgen::generate!({
    path: ["../wit/storage", "../wit/places"],
    world: "agent-memory:places/files",
    generate_all,
});
