//! Fuzzes `testkit::fuzz::header`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::header(data));
