//! Fuzzes `testkit::fuzz::Decoder::LogRecord`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testkit::fuzz::Decoder::LogRecord.run(data));
