//! Build script of the app.
fn main() {
    println!("cargo:rerun-if-changed=src-tauri/permissions");
    // With a manifest of its own the app refuses every command that no capability names.
    let manifest =
        tauri_build::AppManifest::new().permissions_path_pattern("./src-tauri/permissions/**/*");
    let attributes = tauri_build::Attributes::new()
        .app_manifest(manifest)
        .capabilities_path_pattern("./src-tauri/capabilities/**/*");
    if let Err(error) = tauri_build::try_build(attributes) {
        panic!("the app's configuration is not usable: {error:#}");
    }
}
