//! PDUs as an initiator sends them, and the disk of these tests.

use crate::{ServedDisk, SharedUnit, TargetOffer};
use device_net::iscsi_codec::{
    FINAL, HEAD_BYTES, Head, IMMEDIATE, KeyText, append, field, padding, request,
};

pub(crate) const TARGET: &str = "iqn.2026-11.example.plimsoll:volume";

/// Blocks of the disk.
pub(crate) const BLOCKS: u64 = 1_000;

pub(crate) fn offer(is_read_only: bool) -> TargetOffer {
    let disk = ServedDisk {
        blocks: BLOCKS,
        block_bytes: 512,
        physical_bytes: 512,
        preferred_bytes: 32 << 10,
        serial: "1".to_owned(),
        identity: 1,
        is_read_only,
    };
    let unit = SharedUnit::default();
    TargetOffer { name: TARGET.to_owned(), lun: 0, disk, account: None, unit }
}

pub(crate) fn pdu(head: Head, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    append(&mut bytes, head, data);
    bytes
}

pub(crate) fn login(target: &str) -> Vec<u8> {
    login_of("iqn.2026-11.example.plimsoll:test", target)
}

/// The login of the initiator called `name`.
pub(crate) fn login_of(name: &str, target: &str) -> Vec<u8> {
    let mut text = KeyText::default();
    text.set("InitiatorName", name);
    text.set("TargetName", target);
    text.set("SessionType", "Normal");
    // From the second stage to the last.
    pdu(Head::new(request::LOGIN | IMMEDIATE, FINAL | 1 << 2 | 3), &text.encode())
}

/// A command with room for `length` bytes, and the data that goes with it.
pub(crate) fn command(number: u32, flags: u8, length: u32, cdb: &[u8], data: &[u8]) -> Vec<u8> {
    let mut head = Head::new(request::COMMAND, FINAL | flags)
        .with(field::TASK_TAG, number)
        .with(field::COMMAND_NUMBER, number)
        .with(field::TRANSFER_TAG, length);
    head.0[32..32 + cdb.len()].copy_from_slice(cdb);
    pdu(head, data)
}

/// The data that answers a request for data of task `number`.
pub(crate) fn data_out(number: u32, offset: u32, data: &[u8]) -> Vec<u8> {
    let head = Head::new(request::DATA_OUT, FINAL)
        .with(field::TASK_TAG, number)
        .with(field::TRANSFER_TAG, number)
        .with(field::OFFSET, offset);
    pdu(head, data)
}

/// Headers and data of the PDUs in `bytes`.
pub(crate) fn split(mut bytes: &[u8]) -> Vec<(Head, Vec<u8>)> {
    let mut pdus = Vec::new();
    while let Some(head) = bytes.first_chunk() {
        let head = Head(*head);
        let length = head.data_bytes();
        pdus.push((head, bytes[HEAD_BYTES..HEAD_BYTES + length].to_vec()));
        bytes = &bytes[HEAD_BYTES + length + padding(length)..];
    }
    assert!(bytes.is_empty(), "whole PDUs");
    pdus
}

/// READ(10) or WRITE(10) of `blocks` blocks from `first` on.
pub(crate) fn transfer(operation: u8, first: u32, blocks: u16) -> [u8; 10] {
    let [a, b, c, d] = first.to_be_bytes();
    let [high, low] = blocks.to_be_bytes();
    [operation, 0, a, b, c, d, 0, high, low, 0]
}

/// A logout.
pub(crate) fn logout(number: u32) -> Vec<u8> {
    pdu(Head::new(request::LOGOUT, FINAL).with(field::COMMAND_NUMBER, number), &[])
}

/// A reset of the logical unit, ahead of all commands.
pub(crate) fn unit_reset() -> Vec<u8> {
    pdu(Head::new(0x02 | IMMEDIATE, FINAL | 5), &[])
}
