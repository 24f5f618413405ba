//! Fuzzes `testkit::fuzz::Decoder::Header`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Header.run(data));
