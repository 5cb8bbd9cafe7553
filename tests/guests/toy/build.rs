//! Links a module in place of `wasi:random`, from which the standard library imports a hash seed. The
//! product's build does the same.

fn main() {
    println!("cargo::rerun-if-changed=../../../core-component/hash-seed.wat");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("wasm32") {
        let manifest = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!(
            "cargo::rustc-link-arg=--adapt=wasi:random/insecure-seed@0.2.4={manifest}/../../../core-component/hash-seed.wat"
        );
    }
}
