//! Input documents: what to prepare, run and judge.
