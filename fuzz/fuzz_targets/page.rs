//! Fuzzes `testkit::fuzz::Decoder::Page`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Page.run(data));
