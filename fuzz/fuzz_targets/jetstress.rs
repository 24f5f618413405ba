//! Fuzzes `testkit::fuzz::jetstress`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::jetstress(data));
