//! Rules that turn a record into findings.
