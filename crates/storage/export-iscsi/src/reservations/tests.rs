//! Who may do what under each kind of reservation, and how keys move.

use super::{ReservationChange, Reservations, ReserveRefusal};
use crate::scsi::{CommandAccess, RESERVE_BYTES, Sense};

const A: &str = "iqn.a,i,0x1";
const B: &str = "iqn.b,i,0x1";
const C: &str = "iqn.c,i,0x1";
const KINDS: [u8; 6] = [1, 3, 5, 6, 7, 8];

fn request(action: u8, kind: u8, key: u64, new_key: u64) -> ReservationChange {
    let mut cdb = [0; 16];
    (cdb[0], cdb[1], cdb[2]) = (0x5f, action, kind);
    let mut parameters = [0; RESERVE_BYTES];
    parameters[..8].copy_from_slice(&key.to_be_bytes());
    parameters[8..16].copy_from_slice(&new_key.to_be_bytes());
    ReservationChange::parse(&cdb, &parameters).expect("a sound request")
}

/// Sends `of` the request with these numbers; returns the notified initiators, each with code and
/// qualifier.
fn ask(
    of: &mut Reservations,
    who: &str,
    (action, kind): (u8, u8),
    (key, new_key): (u64, u64),
) -> Result<Vec<(String, Sense)>, ReserveRefusal> {
    of.change(who, &request(action, kind, key, new_key))
}

/// A with key 1 holds a reservation of `kind`; B with key 2 is registered.
fn reserved(kind: u8) -> Reservations {
    let mut reservations = Reservations::default();
    for (who, key) in [(A, 1), (B, 2)] {
        assert_eq!(ask(&mut reservations, who, (0, 0), (0, key)), Ok(Vec::new()));
    }
    assert_eq!(ask(&mut reservations, A, (1, kind), (1, 0)), Ok(Vec::new()));
    reservations
}

#[test]
fn each_kind_admits_its_holder_its_exempt_and_no_others() {
    for (kind, registrant, stranger_reads) in [
        (1, false, true),
        (3, false, false),
        (5, true, true),
        (6, true, false),
        (7, true, true),
        (8, true, false),
    ] {
        let reservations = reserved(kind);
        let admits = |who, access| reservations.admits(who, access);
        assert!(admits(A, CommandAccess::Write) && admits(A, CommandAccess::Read), "{kind}");
        assert_eq!(admits(B, CommandAccess::Write), registrant, "{kind}");
        assert_eq!(admits(B, CommandAccess::Read), registrant || stranger_reads, "{kind}");
        assert!(!admits(C, CommandAccess::Write), "{kind}");
        assert_eq!(admits(C, CommandAccess::Read), stranger_reads, "{kind}");
        assert!(admits(C, CommandAccess::Always) && admits(C, CommandAccess::Reservation));
    }
    assert!(Reservations::default().admits(C, CommandAccess::Write));
}

#[test]
fn keys_are_checked_before_anything_changes() {
    for kind in KINDS {
        let mut reservations = reserved(kind);
        let before = reservations.clone();
        for (who, action, key, new_key) in [
            (A, 0, 9, 5),
            (C, 0, 9, 5),
            (A, 1, 2, 0),
            (C, 1, 0, 0),
            (B, 2, 1, 0),
            (B, 3, 1, 0),
            (B, 4, 1, 1),
            (C, 5, 0, 1),
            (B, 4, 2, 77),
        ] {
            let refused = ask(&mut reservations, who, (action, kind), (key, new_key));
            assert_eq!(refused, Err(ReserveRefusal::Conflict), "{who} {action} {key} {new_key}");
            assert_eq!(reservations, before);
        }
    }
}

#[test]
fn a_second_reservation_conflicts_and_the_same_one_does_not() {
    for kind in KINDS {
        let mut reservations = reserved(kind);
        assert_eq!(ask(&mut reservations, A, (1, kind), (1, 0)), Ok(Vec::new()));
        let other = if kind == 1 { 3 } else { 1 };
        assert_eq!(ask(&mut reservations, A, (1, other), (1, 0)), Err(ReserveRefusal::Conflict));
        let by_b = ask(&mut reservations, B, (1, kind), (2, 0));
        assert_eq!(by_b.is_ok(), kind >= 7, "all registered hold {kind}");
    }
}

#[test]
fn a_release_is_for_the_holder_and_the_exempt_learn_of_it() {
    for kind in KINDS {
        let mut reservations = reserved(kind);
        let other = if kind == 1 { 3 } else { 1 };
        let wrong = ask(&mut reservations, A, (2, other), (1, 0));
        assert_eq!(wrong, Err(ReserveRefusal::Sense(Sense::INVALID_RELEASE)));
        if kind < 7 {
            assert_eq!(ask(&mut reservations, B, (2, kind), (2, 0)), Ok(Vec::new()));
            assert!(reservations.held.is_some(), "B does not hold it");
        }
        let told = ask(&mut reservations, A, (2, kind), (1, 0)).unwrap();
        let expected = if kind < 5 { vec![] } else { vec![(B.to_owned(), Sense::RELEASED)] };
        assert_eq!((told, reservations.held), (expected, None), "{kind}");
    }
}

#[test]
fn the_reservation_ends_with_its_holder_or_with_the_last_of_all() {
    for kind in KINDS {
        let mut reservations = reserved(kind);
        let told = ask(&mut reservations, A, (0, 0), (1, 0)).unwrap();
        let is_held = reservations.held.is_some();
        assert_eq!(is_held, kind >= 7, "{kind}");
        assert_eq!(told.len(), usize::from(kind == 5 || kind == 6));
        ask(&mut reservations, B, (6, 0), (0, 0)).unwrap();
        assert!(reservations.held.is_none() && reservations.is_empty());
    }
}

#[test]
fn a_host_is_fenced_by_its_key() {
    for (kind, action) in KINDS.into_iter().flat_map(|kind| [(kind, 4), (kind, 5)]) {
        let mut reservations = reserved(kind);
        let told = ask(&mut reservations, B, (action, kind), (2, 1)).unwrap();
        assert_eq!(told, [(A.to_owned(), Sense::REGISTRATION_PREEMPTED)]);
        assert!(reservations.admits(B, CommandAccess::Write), "{kind}");
        assert!(!reservations.admits(A, CommandAccess::Write), "{kind}");
        assert_eq!(ask(&mut reservations, A, (1, kind), (1, 0)), Err(ReserveRefusal::Conflict));
    }
}

#[test]
fn taking_all_keys_is_for_reservations_that_all_hold() {
    for kind in KINDS {
        let mut reservations = reserved(kind);
        ask(&mut reservations, C, (6, 0), (0, 3)).unwrap();
        let told = ask(&mut reservations, C, (4, 5), (3, 0));
        if kind < 7 {
            assert_eq!(told, Err(ReserveRefusal::Sense(Sense::INVALID_PARAMETER)));
        } else {
            assert_eq!(told.unwrap().len(), 2);
            assert_eq!(reservations.keys, [(C.to_owned(), 3)]);
            assert!(!reservations.admits(A, CommandAccess::Write));
        }
    }
}

#[test]
fn a_registrant_without_the_reservation_loses_only_its_key() {
    let mut reservations = reserved(5);
    ask(&mut reservations, A, (4, 5), (1, 2)).unwrap();
    assert!(reservations.is_holder(A) && !reservations.admits(B, CommandAccess::Write));
    let told = ask(&mut reservations, A, (3, 0), (1, 0)).unwrap();
    assert!(told.is_empty() && reservations.is_empty() && reservations.held.is_none());
}

#[test]
fn questions_are_answered_in_the_form_of_spc() {
    let reservations = reserved(6);
    let keys = reservations.report(0).unwrap();
    assert_eq!(keys[..8], [0, 0, 0, 2, 0, 0, 0, 16]);
    assert_eq!((keys[15], keys[23]), (1, 2));
    let held = reservations.report(1).unwrap();
    assert_eq!((held[7], held[15], held[21]), (16, 1, 6));
    assert_eq!(reservations.report(2).unwrap(), [0, 8, 0, 0x80, 0xea, 1, 0, 0]);
    let full = reservations.report(3).unwrap();
    assert_eq!((full.len(), full[8 + 12], full[8 + 13]), (8 + 2 * 48, 1, 6));
    assert_eq!(full[8 + 24..8 + 28], [0x45, 0, 0, 20]);
    assert!(full[8 + 28..].starts_with(A.as_bytes()));
    assert_eq!(reservations.report(4), Err(Sense::INVALID_FIELD));
    assert_eq!(Reservations::default().report(1).unwrap(), [0; 8]);
}

#[test]
fn what_is_not_offered_is_refused() {
    let mut cdb = [0; 16];
    cdb[0] = 0x5f;
    for bit in [1, 4, 8] {
        let mut parameters = [0; RESERVE_BYTES];
        parameters[20] = bit;
        let refused = ReservationChange::parse(&cdb, &parameters);
        assert_eq!(refused, Err(ReserveRefusal::Sense(Sense::INVALID_PARAMETER)));
    }
    for (action, kind) in [(1, 2), (1, 0x11), (7, 1), (4, 0)] {
        (cdb[1], cdb[2]) = (action, kind);
        let refused = ReservationChange::parse(&cdb, &[0; RESERVE_BYTES]);
        assert_eq!(refused, Err(ReserveRefusal::Sense(Sense::INVALID_FIELD)), "{action} {kind}");
    }
    let short = ReservationChange::parse(&[0; 16], &[0; 23]);
    assert_eq!(short, Err(ReserveRefusal::Sense(Sense::PARAMETER_LENGTH)));
}
