//! Fuzzes `testkit::fuzz::journal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::journal(data));
