//! Replaces the standard library's import of a random hash seed with a constant. So the component
//! imports no randomness, and every map iterates in the same order on every host.

fn main() {
    println!("cargo::rerun-if-changed=hash-seed.wat");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!(
            "cargo::rustc-link-arg=--adapt=wasi:random/insecure-seed@0.2.4={manifest}/hash-seed.wat"
        );
    }
}
