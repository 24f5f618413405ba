//! Tests that records survive a round trip, match golden bytes, and that garbage is refused.

use proptest::prelude::*;
use units::Bytes;

use super::LogRecord;
use crate::edit::TransactionId;
use crate::edit::tests::apply_record;

/// Any record.
pub(crate) fn log_record() -> impl Strategy<Value = LogRecord> {
    let transaction = any::<u32>().prop_map(TransactionId);
    prop_oneof![
        transaction.clone().prop_map(|transaction| LogRecord::Begin { transaction }),
        transaction.clone().prop_map(|transaction| LogRecord::Commit { transaction }),
        transaction.prop_map(|transaction| LogRecord::Rollback { transaction }),
        apply_record().prop_map(LogRecord::Apply),
        any::<u64>().prop_map(|length| LogRecord::Extend { length: Bytes(length) }),
        any::<(u32, u64)>().prop_map(|(database, dbtime)| LogRecord::Attach { database, dbtime }),
        any::<(u32, u64)>().prop_map(|(database, dbtime)| LogRecord::Detach { database, dbtime }),
    ]
}

fn encode(record: &LogRecord) -> Vec<u8> {
    let mut encoded = Vec::new();
    record.encode(&mut encoded);
    encoded
}

proptest! {
    #[test]
    fn records_read_back_as_they_were(record in log_record()) {
        prop_assert_eq!(LogRecord::decode(&encode(&record)), Ok(record));
    }

    #[test]
    fn bytes_behind_a_record_are_refused(record in log_record()) {
        let mut encoded = encode(&record);
        encoded.push(0);
        prop_assert!(LogRecord::decode(&encoded).is_err());
    }

    #[test]
    fn garbage_never_panics(garbage in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = LogRecord::decode(&garbage);
    }
}

#[test]
fn small_records_keep_their_bytes() {
    let transaction = TransactionId(0x0102);
    assert_eq!(encode(&LogRecord::Begin { transaction }), [1, 0x82, 2]);
    assert_eq!(encode(&LogRecord::Commit { transaction }), [2, 0x82, 2]);
    assert_eq!(encode(&LogRecord::Rollback { transaction }), [3, 0x82, 2]);
    let length = Bytes(1 << 20);
    assert_eq!(encode(&LogRecord::Extend { length }), [5, 0x80, 0x80, 0x40]);
    let (database, dbtime) = (5, 6);
    assert_eq!(encode(&LogRecord::Attach { database, dbtime }), [6, 5, 6]);
    assert_eq!(encode(&LogRecord::Detach { database, dbtime }), [7, 5, 6]);
}
