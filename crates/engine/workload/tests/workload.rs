//! The sequence and the content are a promise: a seed printed in a record means the same for ever.

use std::collections::BTreeSet;

use plan::Plan;
use proptest::prelude::*;
use units::Seed;
use workload::{
    Commit, Content, MailMix, MailboxLoad, MailboxOperation, Mailboxes, Message, Operation, Pads,
    Part, Place, Record, Step, Workload,
};

fn workload() -> plan::LoadSettings {
    let text = "[databases]\nfolders = [\"/a\"]\nsize = \"1GiB\"\n\
                [workload]\nshort_pad = \"200B\"\nlong_pad = \"2000B\"\n";
    Plan::parse("test", text).expect("a valid plan").workload
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

#[test]
fn one_message_is_pinned() {
    let mut pads = Pads::default();
    let message = Content::new(Seed(1), 0, &workload()).message(42, 1, &mut pads);
    assert_eq!((message.message_id, message.object, message.version), (42, 1, 1));
    assert_eq!(message.received, 2);
    assert_eq!((pads.short.len(), pads.long.len()), (200, 2000));
    assert_eq!(hex(&pads.short[..16]), "b9e61701253aadc0b8fc2785406bad87");
    assert_eq!(hex(&pads.long[..16]), "eeaed92219d860715d475904158bdc1c");
    assert_eq!(hex(&message.long_hash), "6a7058cb2c78248df2cbc5b6fef86114");
    assert_eq!(hex(&message.record_hash), "92faae8385f8fd845268f527578d155d");
}

/// The next batch of any workload.
fn batch_of(workload: &mut dyn Workload) -> Vec<Step> {
    let mut steps = Vec::new();
    workload.next_into(&mut steps);
    steps
}

fn letter(step: &Step) -> char {
    match step {
        Step::Perform(Operation::Insert) => 'I',
        Step::Perform(Operation::Delete(_)) => 'D',
        Step::Perform(Operation::Replace(_)) => 'R',
        Step::Perform(Operation::Read(_)) => 'r',
        Step::Commit(Commit::Lazy) => '.',
        Step::Commit(Commit::Durable) => '!',
    }
}

#[test]
fn the_sequence_of_the_mail_mix_is_pinned() {
    let mut mix = MailMix::new(Seed(1), 0, 0, &workload());
    let letters: String = batch_of(&mut mix).iter().map(letter).collect();
    assert_eq!(letters, "IrIrD.IrI.IrrR!RrID.RrD!II!IrD.");
    let mut digest = Seed(0);
    for _ in 0..1000 {
        for step in batch_of(&mut mix) {
            digest = match step {
                Step::Perform(Operation::Insert) => digest.derive(0),
                Step::Perform(Operation::Delete(Place(place))) => digest.derive(place),
                Step::Perform(Operation::Replace(Place(place))) => digest.derive(!place),
                Step::Perform(Operation::Read(Place(place))) => digest.derive(place.rotate_left(1)),
                Step::Commit(Commit::Lazy) => digest.derive(1),
                Step::Commit(Commit::Durable) => digest.derive(2),
            };
        }
    }
    assert_eq!(digest.to_string(), "0xab9b498fba780fc4");
}

/// The same operations, however many transactions they make.
#[test]
fn commits_do_not_change_what_is_done() {
    let operations = |commits_per_batch| {
        let workload = plan::LoadSettings { commits_per_batch, ..workload() };
        let mut batch = batch_of(&mut MailMix::new(Seed(1), 0, 0, &workload));
        batch.retain(|step| matches!(step, Step::Perform(_)));
        batch
    };
    assert_eq!(operations(1), operations(16));
}

/// Skew moves reads and replaces; it changes neither the operations nor the deletes.
#[test]
fn skew_moves_reads_and_replaces_alone() {
    let steps = |zipf_theta| {
        let workload = plan::LoadSettings { zipf_theta, ..workload() };
        let mut mix = MailMix::new(Seed(1), 0, 0, &workload);
        (0..200).flat_map(|_| batch_of(&mut mix)).collect::<Vec<_>>()
    };
    let (even, skewed) = (steps(0.0), steps(0.9));
    let mut newest_half = 0;
    for (even, skewed) in even.iter().zip(&skewed) {
        assert_eq!(letter(even), letter(skewed));
        match skewed {
            Step::Perform(Operation::Read(Place(place)) | Operation::Replace(Place(place))) => {
                newest_half += u32::from(*place >= 1 << 63);
            }
            _ => assert_eq!(even, skewed),
        }
    }
    let moved = skewed.iter().filter(|step| matches!(letter(step), 'r' | 'R')).count();
    assert!(f64::from(newest_half) > moved as f64 * 0.9, "{newest_half} of {moved}");
}

#[test]
fn batches_keep_the_proportions_of_the_mix() {
    let workload = workload();
    let mut mix = MailMix::new(Seed(1), 0, 0, &workload);
    let mut counts = std::collections::BTreeMap::new();
    let batches = 10_000;
    for _ in 0..batches {
        let batch = batch_of(&mut mix);
        for step in &batch {
            *counts.entry(letter(step)).or_insert(0_u32) += 1;
        }
        assert!(matches!(batch.last(), Some(Step::Commit(_))));
    }
    let [durable, lazy, deletes, inserts, replaces, reads] =
        ['!', '.', 'D', 'I', 'R', 'r'].map(|letter| counts[&letter]);
    assert_eq!(inserts + deletes + replaces, 16 * batches);
    assert_eq!(lazy + durable, workload.commits_per_batch * batches);
    // Expectations 9.85, 4.92, 1.23, 8.62 a batch and 70 percent, within about five deviations.
    assert!((97_500..99_500).contains(&inserts), "{inserts}");
    assert!((48_200..50_300).contains(&deletes), "{deletes}");
    assert!((11_700..12_900).contains(&replaces), "{replaces}");
    assert!((84_200..88_100).contains(&reads), "{reads}");
    let percent = f64::from(lazy) * 100.0 / f64::from(lazy + durable);
    assert!((69.0..71.0).contains(&percent), "{percent}");
}

#[test]
fn sessions_and_databases_do_different_things() {
    let workload = workload();
    let first =
        |database, session| batch_of(&mut MailMix::new(Seed(1), database, session, &workload));
    let batches = [first(0, 0), first(0, 1), first(1, 0), first(1, 1)];
    for (index, batch) in batches.iter().enumerate() {
        assert!(!batches[..index].contains(batch));
    }
}

#[test]
fn a_record_found_elsewhere_says_so() {
    let mut pads = Pads::default();
    let message = Content::new(Seed(1), 0, &workload()).message(42, 1, &mut pads);
    let record = Record::new(&message, &pads.short);
    assert_eq!(record.check(42, 1), Ok(()));
    let misplaced = record.check(43, 1).unwrap_err();
    assert_eq!(misplaced.part, Part::Key);
    let foreign = record.check(42, 2).unwrap_err();
    let said = "message 42: the record belongs to database 1, not 2";
    assert_eq!(foreign.to_string(), said);
}

#[test]
fn the_bench_load_keeps_its_mailboxes() {
    let mut mailboxes = Mailboxes::new(Seed(3), 2_500);
    let mut twin: BTreeSet<i64> = mailboxes.keys().collect();
    assert_eq!(twin.len(), 2_500);
    let mut loads: Vec<_> = (0..3).map(|session| MailboxLoad::new(Seed(3), session)).collect();
    let mut value = Vec::new();
    for turn in 0..30_000 {
        let (operation, durable) = loads[turn % 3].next(&mut mailboxes);
        match operation {
            MailboxOperation::Insert(key) => {
                let mailbox = key >> 32 << 32;
                let newest = twin.range(mailbox..mailbox + (1 << 32)).next_back();
                assert!(newest.is_none_or(|newest| newest + 1 == key));
                assert!(twin.insert(key));
            }
            MailboxOperation::Delete(key) => {
                let mailbox = key >> 32 << 32;
                assert_eq!(twin.range(mailbox..).next(), Some(&key));
                assert!(twin.remove(&key));
            }
            MailboxOperation::Replace(key) => assert!(twin.contains(&key)),
            MailboxOperation::Read(key) => assert!(twin.contains(&key) && !durable),
        }
        if turn % 1000 == 0 {
            mailboxes.value(0, turn as u64, &mut value);
            assert!((8192..=10240).contains(&value.len()));
        }
    }
    assert!(twin.into_iter().eq(mailboxes.keys()));
}

proptest! {
    /// One flipped bit anywhere in the stored data is detected, by the part that stores it.
    #[test]
    fn any_flipped_bit_is_noticed(
        id in 1_i64..1 << 40,
        version in 1_u32..9,
        bit: prop::sample::Index,
    ) {
        let mut pads = Pads::default();
        let message = Content::new(Seed(1), 3, &workload()).message(id, version, &mut pads);
        let record = Record::new(&message, &pads.short);
        prop_assert_eq!(record.check(id, 4), Ok(()));
        prop_assert_eq!(record.check_long(&pads.long), Ok(()));

        let mut long = pads.long.clone();
        let at = bit.index(long.len() * 8);
        long[at / 8] ^= 1 << (at % 8);
        prop_assert_eq!(record.check_long(&long).unwrap_err().part, Part::LongValue);

        let mut short = pads.short.clone();
        let at = bit.index(short.len() * 8);
        short[at / 8] ^= 1 << (at % 8);
        let damaged = Record::new(&message, &short);
        prop_assert_eq!(damaged.check(id, 4).unwrap_err().part, Part::Record);

        let flip = |hash: [u8; 16]| (u128::from_be_bytes(hash) ^ 1 << bit.index(128)).to_be_bytes();
        let damaged = [
            Message { version: version ^ 1 << bit.index(32), ..message },
            Message { received: message.received ^ 1 << bit.index(63), ..message },
            Message { long_hash: flip(message.long_hash), ..message },
            Message { record_hash: flip(message.record_hash), ..message },
        ];
        for message in damaged {
            let record = Record::new(&message, &pads.short);
            prop_assert_eq!(record.check(id, 4).unwrap_err().part, Part::Record);
        }
    }
}
