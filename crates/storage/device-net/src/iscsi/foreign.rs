//! Feeds every decoder of target data with bytes that no target sends.

use super::address::IscsiPortal;
use super::agreed::Agreed;
use super::discovery::targets;
use super::pdu::{read_data, read_head};
use super::scsi;
use super::sense::ScsiRefusal;
use super::status::LoginStatus;
use super::text::{KeyText, LONGEST_TEXT, binary};

/// Reads `bytes` as PDUs, and the data of each as text, sense and answers of commands.
///
/// # Panics
/// If text does not survive a round trip.
pub fn read_foreign(mut bytes: &[u8]) {
    while let Ok(head) = read_head(&mut bytes) {
        let _ = (head.lun(), head.status_number());
        let _ = LoginStatus::of(head.0[36], head.0[37]);
        let Ok(data) = read_data(&mut bytes, &head, LONGEST_TEXT) else {
            return;
        };
        read_text(&data);
        read_answer(&data);
    }
}

fn read_text(data: &[u8]) {
    let Some(text) = KeyText::decode(data) else {
        return;
    };
    assert_eq!(KeyText::decode(&text.encode()).as_ref(), Some(&text), "text is what it says");
    for (_, value) in text.pairs() {
        let _ = binary(value);
    }
    let _ = Agreed::default().note(&text);
    let asked = IscsiPortal { host: "array".to_owned(), port: 3260 };
    assert!(targets(&text, &asked).iter().all(|target| !target.portals.is_empty()));
}

fn read_answer(data: &[u8]) {
    let _ = (scsi::identity(data), scsi::serial(data), scsi::most_blocks(data));
    let _ = (scsi::luns(data), scsi::caching(data, 4), scsi::caching(data, 8));
    if let Some(capacity) = scsi::capacity(data) {
        assert!(capacity.block_bytes.is_power_of_two(), "offsets are divided by it");
    }
    if let Some(refusal) =
        data.split_first().and_then(|(status, sense)| ScsiRefusal::of(*status, sense))
    {
        let _ = (refusal.reaction(), refusal.to_string());
    }
}
