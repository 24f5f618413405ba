//! The Extensible Storage Engine file format, without any I/O policy.
