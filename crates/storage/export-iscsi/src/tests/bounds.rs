//! What a session refuses so that it stays small and cannot be deceived.

use crate::TargetOffer;
use crate::session::{TargetSession, TargetStep};
use device_net::iscsi_codec::{
    FINAL, Head, IMMEDIATE, KeyText, field, hex_value, request, response,
};
use device_net::{ChapLogin, ChapSecret};

use crate::tests::pdus::{TARGET, command, login, offer, pdu, split, transfer};

const WRITES: u8 = 0x20;
const CHALLENGE: [u8; 16] = [7; 16];

fn connected(offer: TargetOffer) -> TargetSession {
    TargetSession::new([offer].into(), "127.0.0.1:3260".to_owned(), CHALLENGE)
}

/// What the session sends in answer to `bytes`.
fn answers(session: &mut TargetSession, bytes: &[u8]) -> Vec<(Head, Vec<u8>)> {
    session.room()[..bytes.len()].copy_from_slice(bytes);
    let steps = session.filled(bytes.len());
    let sent = |step: TargetStep| match step {
        TargetStep::Send(bytes) => split(&bytes),
        _ => Vec::new(),
    };
    steps.into_iter().flat_map(sent).collect()
}

fn logged_in() -> TargetSession {
    let mut session = connected(offer(false));
    answers(&mut session, &login(TARGET));
    answers(&mut session, &command(0, 0, 0, &[0; 6], &[]));
    session
}

#[test]
fn the_window_closes_with_the_commands_that_wait() {
    let mut session = logged_in();
    for number in 1..=100 {
        answers(&mut session, &command(number, WRITES, 1_024, &transfer(0x2a, 0, 2), &[]));
    }
    let ping = Head::new(IMMEDIATE, FINAL).with(field::TASK_TAG, 900);
    let pong = answers(&mut session, &pdu(ping, &[]))[0].0;
    assert_eq!(pong.opcode(), response::NOP_IN);
    assert_eq!(pong.word(field::EXPECTED_STATUS_NUMBER), 101);
    assert_eq!(pong.word(field::LAST_COMMAND_NUMBER), 100 + 28, "128 in all");
}

#[test]
fn commands_beyond_every_window_end_the_session() {
    let mut session = logged_in();
    for number in 1_000..1_400 {
        let mut bytes = command(number, WRITES, 1_024, &transfer(0x2a, 0, 2), &[]);
        bytes[0] |= IMMEDIATE;
        answers(&mut session, &bytes);
        if session.is_closed() {
            assert!(number > 1_250, "{number}");
            return;
        }
    }
    panic!("400 commands wait");
}

#[test]
fn a_pattern_or_a_comparison_of_another_length_is_refused() {
    for (operation, length, code) in [(0x41, 1_024, 0x1a), (0x93, 256, 0x1a), (0x89, 512, 0x24)] {
        let mut cdb = [0; 16];
        (cdb[0], cdb[8], cdb[13]) = (operation, 1, 1);
        let data = vec![0; length];
        let length = u32::try_from(length).expect("a value of the test");
        let told = answers(&mut logged_in(), &command(1, WRITES, length, &cdb, &data));
        assert_eq!((told[0].0.0[3], told[0].1[2 + 2], told[0].1[2 + 12]), (2, 5, code));
    }
}

#[test]
fn a_login_to_a_session_that_is_not_there_is_refused() {
    let mut bytes = login(TARGET);
    bytes[15] = 1;
    let told = answers(&mut connected(offer(false)), &bytes);
    assert_eq!(told[0].0.0[36..38], [2, 10]);
}

/// The login of an initiator in the security stage.
fn proof(keys: &[(&str, &str)]) -> Vec<u8> {
    let mut text = KeyText::default();
    for (key, value) in keys {
        text.set(key, *value);
    }
    pdu(Head::new(request::LOGIN | IMMEDIATE, FINAL | 1), &text.encode())
}

#[test]
fn the_targets_challenge_sent_back_is_not_answered() {
    let secret = |text| ChapSecret::new(text).expect("a good secret");
    let own = secret("initiator-123");
    let account = ChapLogin::new("me", own.clone(), Some(secret("target-secret")));
    let guarded = TargetOffer { account: account.ok(), ..offer(false) };
    let given = hex_value(&own.answer(CHALLENGE[0], &CHALLENGE));
    for (challenge, status) in [(hex_value(&CHALLENGE), [2, 1]), (hex_value(&[8; 16]), [0, 0])] {
        let mut session = connected(guarded.clone());
        let name = ("InitiatorName", "iqn.a");
        let hello = [name, ("TargetName", TARGET), ("AuthMethod", "CHAP")];
        answers(&mut session, &proof(&hello));
        answers(&mut session, &proof(&[("CHAP_A", "5")]));
        let keys =
            [("CHAP_N", "me"), ("CHAP_R", &*given), ("CHAP_I", "7"), ("CHAP_C", &*challenge)];
        let told = answers(&mut session, &proof(&keys));
        assert_eq!(told[0].0.0[36..38], status);
    }
}
