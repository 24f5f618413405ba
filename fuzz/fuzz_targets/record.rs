//! Fuzzes `testkit::fuzz::Decoder::Record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Record.run(data));
