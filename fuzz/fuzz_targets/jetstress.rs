//! Fuzzes `testkit::fuzz::Decoder::Jetstress`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Jetstress.run(data));
