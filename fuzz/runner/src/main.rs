//! One libFuzzer program for all targets; `SEALPOST_FUZZ_TARGET` names the one that is run.

#![no_main]

use std::sync::LazyLock;

use sealpost_fuzz::Target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("SEALPOST_FUZZ_TARGET").unwrap_or_default();
    sealpost_fuzz::target(&name).expect("SEALPOST_FUZZ_TARGET names a target")
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));
