//! Writes what each search starts from into `fuzz/corpus/`, beside what was found.

use std::path::Path;

use sealpost_fuzz::TARGETS;

fn main() -> std::io::Result<()> {
    for target in &TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number:02}")), seed)?;
        }
    }
    Ok(())
}
