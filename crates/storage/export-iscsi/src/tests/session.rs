//! The session without a network: what it refuses, and that no bytes make it panic.

use crate::scsi::{ScsiWork, WorkError};
use crate::session::{TargetSession, TargetStep};
use device_net::iscsi_codec::{FINAL, Head, IMMEDIATE, field, request, response};
use units::{Prng, Seed};

use crate::tests::pdus::{TARGET, command, login, offer, pdu};

/// A connection that has just been made.
fn connected(is_read_only: bool) -> TargetSession {
    TargetSession::new([offer(is_read_only)].into(), "127.0.0.1:3260".to_owned(), [7; 16])
}

/// Hands `bytes` over, and grants what the session asks for.
fn received(session: &mut TargetSession, bytes: &[u8]) -> Vec<TargetStep> {
    session.room()[..bytes.len()].copy_from_slice(bytes);
    let steps = session.filled(bytes.len());
    let grant = |step| match step {
        TargetStep::Reserve { task, .. } => session.granted(task),
        step => vec![step],
    };
    steps.into_iter().flat_map(grant).collect()
}

/// A session that has logged in and reported its first unit attention; the next command has number
/// 1.
fn session(is_read_only: bool) -> TargetSession {
    let mut session = connected(is_read_only);
    let steps = received(&mut session, &login(TARGET));
    assert_eq!(sent(&steps).0[36..38], [0, 0], "accepted");
    let refused = received(&mut session, &command(0, 0, 0, &[0; 6], &[]));
    assert_eq!(sense(&refused), (0x6, 0x29), "a new session is announced once");
    session
}

fn sent(steps: &[TargetStep]) -> Head {
    let Some(TargetStep::Send(bytes)) = steps.first() else { panic!("{steps:?}") };
    Head(*bytes.first_chunk().expect("a header"))
}

/// Sense key and additional code of a response.
fn sense(steps: &[TargetStep]) -> (u8, u8) {
    let Some(TargetStep::Send(bytes)) = steps.first() else { panic!("{steps:?}") };
    assert_eq!((bytes[0], bytes[3]), (response::COMMAND, 2), "CHECK CONDITION");
    (bytes[48 + 2 + 2], bytes[48 + 2 + 12])
}

#[test]
fn another_target_and_a_nameless_initiator_are_refused() {
    let mut other = connected(false);
    let steps = received(&mut other, &login("iqn.2026-11.example.plimsoll:other"));
    assert_eq!(sent(&steps).0[36..38], [2, 3]);
    assert!(other.is_closed() && steps.contains(&TargetStep::Close));
    let mut nameless = connected(false);
    let head = Head::new(request::LOGIN | IMMEDIATE, FINAL | 1 << 2 | 3);
    assert_eq!(sent(&received(&mut nameless, &pdu(head, b"TargetName=x\0"))).0[36..38], [2, 7]);
}

#[test]
fn writes_to_a_read_only_volume_and_past_its_end_are_refused() {
    let write = [0x2a, 0, 0, 0, 0, 0, 0, 0, 1, 0];
    let refused = received(&mut session(true), &command(1, 0x20, 512, &write, &[1; 512]));
    assert_eq!(sense(&refused), (0x7, 0x27));
    let past = [0x2a, 0, 0, 0, 3, 0xe8, 0, 0, 1, 0];
    let refused = received(&mut session(false), &command(1, 0x20, 512, &past, &[1; 512]));
    assert_eq!(sense(&refused), (0x5, 0x21));
}

#[test]
fn a_comparison_reports_where_the_content_differs() {
    let mut session = session(false);
    let mut cdb = [0; 16];
    (cdb[0], cdb[9], cdb[13]) = (0x89, 3, 1);
    let data = [[1; 512], [2; 512]].concat();
    let steps = received(&mut session, &command(1, 0x20, 1_024, &cdb, &data));
    let (compare, write) = (vec![1; 512], vec![2; 512]);
    let work = ScsiWork::CompareAndWrite { offset: 3 * 512, compare, write };
    assert_eq!(steps, [TargetStep::Work { task: 1, work }]);
    let steps = session.finished(1, Err(WorkError::Differs(77)));
    assert_eq!(sense(&steps), (0xe, 0x1d));
    let Some(TargetStep::Send(bytes)) = steps.first() else { panic!("{steps:?}") };
    assert_eq!(bytes[48 + 2..][..7], [0xf0, 0, 0xe, 0, 0, 0, 77]);
}

#[test]
fn data_is_asked_for_and_taken_in_order() {
    let mut session = session(false);
    let write = [0x2a, 0x08, 0, 0, 0, 0, 0, 0, 2, 0];
    let asked = sent(&received(&mut session, &command(1, 0x20, 1_024, &write, &[1; 512])));
    assert_eq!(asked.opcode(), response::READY);
    assert_eq!((asked.word(field::OFFSET), asked.word(field::LENGTH)), (512, 512));
    let head = Head::new(request::DATA_OUT, FINAL)
        .with(field::TASK_TAG, 1)
        .with(field::TRANSFER_TAG, asked.word(field::TRANSFER_TAG))
        .with(field::OFFSET, 512);
    let steps = received(&mut session, &pdu(head, &[2; 512]));
    let data = [[1; 512], [2; 512]].concat();
    let work = ScsiWork::Write { offset: 0, data, is_durable: true };
    assert_eq!(steps, [TargetStep::Work { task: 1, work }]);
    assert_eq!(sent(&session.finished(1, Ok(0))).0[3], 0);
}

#[test]
fn no_bytes_make_it_panic() {
    for seed in 0..20_000 {
        let mut prng = Prng::new(Seed(seed));
        let mut session = session(prng.percent(10));
        for number in 1..6 {
            let mut cdb = [0; 16];
            prng.fill(&mut cdb);
            let known = [0x12, 0x1a, 0x41, 0x42, 0x5a, 0x89, 0x8a, 0x88, 0x93, 0x9e, 0xa0];
            cdb[0] = known[usize::try_from(prng.below(11)).unwrap()];
            if prng.percent(70) {
                cdb[2..9].fill(0);
            }
            let mut data = vec![0; usize::try_from(prng.below(3_000)).unwrap()];
            let random = 40.min(data.len() / 2);
            prng.fill(&mut data[..random]);
            let length = u32::try_from(prng.below(5_000)).unwrap();
            let mut bytes = command(number, 0x20, length, &cdb, &data);
            if prng.percent(30) {
                let at = usize::try_from(prng.below(48)).unwrap();
                bytes[at] = u8::try_from(prng.below(256)).unwrap();
            }
            for step in received(&mut session, &bytes) {
                if let TargetStep::Work { task, .. } = step {
                    session.finished(task, Ok(600));
                }
            }
        }
    }
}
