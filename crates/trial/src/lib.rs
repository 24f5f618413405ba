//! The instrument: prepare, open, warm, measure, drain, check.
