//! Fuzzes `testkit::fuzz::Decoder::Array`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Array.run(data));
