//! Fuzzes `testkit::fuzz::Decoder::Iscsi`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::Iscsi.run(data));
