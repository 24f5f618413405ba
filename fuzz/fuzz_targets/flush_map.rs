//! Fuzzes `testkit::fuzz::flush_map`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::flush_map(data));
