//! Fuzzes `testkit::fuzz::Decoder::FlushMap`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::FlushMap.run(data));
