//! Fuzzes `testkit::fuzz::Decoder::Journal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Journal.run(data));
