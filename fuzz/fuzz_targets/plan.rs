//! Fuzzes `testkit::fuzz::Decoder::Plan`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Plan.run(data));
