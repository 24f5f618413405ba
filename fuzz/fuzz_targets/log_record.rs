//! Fuzzes `testkit::fuzz::log_record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::log_record(data));
