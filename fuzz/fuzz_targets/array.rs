//! Fuzzes `testkit::fuzz::array`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::array(data));
