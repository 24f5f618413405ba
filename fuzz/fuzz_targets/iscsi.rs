//! Fuzzes `testkit::fuzz::iscsi`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::iscsi(data));
