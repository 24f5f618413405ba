//! The live database: cache, log, trees, space, transactions, recovery.
