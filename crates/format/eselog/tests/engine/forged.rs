//! Forged logs: each way in which a log ends or is damaged, distinguished from the others.

use eselog::{LogFile, LogMember, LogSet, RecordFault, SegmentDamage, SegmentFault};
use testkit::forged_log::{ForgedLog, begin, seal};
use units::{Prng, Seed};

/// A record that says that the engine was shut down.
const TERM: [u8; 26] = {
    let mut bytes = [0; 26];
    bytes[0] = 50;
    bytes
};

/// Three segments of one record each.
fn forged() -> ForgedLog {
    let mut forge = ForgedLog::new(1);
    for _ in 0..3 {
        forge.add(&begin(1));
        forge.close();
    }
    forge
}

/// Leaves one sector of a segment as another write would have it. Equal bytes would not do: the
/// checksum is blind to them.
fn tear(segment: &mut [u8]) {
    let mut random = Prng::new(Seed(7));
    segment[512..1024].fill_with(|| random.below(256).to_le_bytes()[0]);
}

fn sentence(forge: &ForgedLog) -> String {
    let file = LogFile::open(&forge.bytes).expect("a log");
    LogSet::of(vec![LogMember::of("edb.log".to_owned(), &file)]).sentence()
}

#[test]
fn a_log_without_a_shutdown_was_left_by_a_crash() {
    let forge = forged();
    assert_eq!(
        sentence(&forge),
        "generation 0x1 complete, edb.log ends at segment 4 without a shutdown, as a crash leaves \
         it"
    );
}

#[test]
fn a_shutdown_is_told_from_a_crash() {
    let mut forge = forged();
    forge.add(&TERM);
    forge.close();
    assert!(sentence(&forge).ends_with("edb.log ends at segment 5 with a shutdown"));
}

#[test]
fn a_torn_tail_is_no_damage() {
    let mut forge = forged();
    tear(forge.segment(3));
    assert_eq!(
        sentence(&forge),
        "generation 0x1 complete, edb.log torn at segment 3, as a crash leaves it"
    );
}

#[test]
fn a_shadow_replaces_the_segment_that_a_crash_tore() {
    let mut forge = forged();
    let shadow = forge.segment(3).to_vec();
    forge.segment(4).copy_from_slice(&shadow);
    tear(forge.segment(3));
    let file = LogFile::open(&forge.bytes).expect("a log");
    let survey = file.survey();
    assert_eq!((survey.from_shadow, survey.torn), (Some(3), None));
    assert_eq!(file.records(&survey).flatten().count(), 3);
}

#[test]
fn a_flipped_bit_behind_the_records_is_named() {
    // In a shadow, in segments that were never written, and in the one that holds no records.
    for (segment, byte) in [(4, 700), (5, 0), (5, 1), (200, 4095), (255, 9)] {
        let mut log = forged();
        let shadow = log.segment(3).to_vec();
        log.segment(4).copy_from_slice(&shadow);
        log.segment(usize::from(segment))[byte] ^= 0x20;
        let file = LogFile::open(&log.bytes).expect("a log");
        let survey = file.survey();
        let bit = u32::try_from(byte).expect("small") * 8 + 5;
        assert_eq!(survey.flipped_bits, [(segment, bit)], "segment {segment}");
        assert_eq!((survey.torn, survey.readable_segments), (None, 3));
    }
}

#[test]
fn damage_before_sound_segments_is_named() {
    let mut forge = forged();
    tear(forge.segment(2));
    let file = LogFile::open(&forge.bytes).expect("a log");
    let survey = file.survey();
    let fault = SegmentFault { segment: 2, damage: SegmentDamage::Checksum };
    assert_eq!(survey.faults, [fault]);
    assert_eq!(file.records(&survey).count(), 1, "what is behind the damage is not read");
    assert!(sentence(&forge).starts_with("generation 0x1 incomplete or damaged"));
}

#[test]
fn a_hole_before_sound_segments_is_named() {
    let mut forge = forged();
    forge.segment(2).fill(0);
    let file = LogFile::open(&forge.bytes).expect("a log");
    let fault = SegmentFault { segment: 2, damage: SegmentDamage::NeverWritten };
    assert_eq!(file.survey().faults, [fault]);
}

#[test]
fn every_flipped_bit_is_turned_back_or_named() {
    for bit in (0..3 * 4096 * 8).step_by(97) {
        let mut forge = forged();
        forge.bytes[4096 + bit / 8] ^= 1 << (bit % 8);
        let file = LogFile::open(&forge.bytes).expect("a log");
        let survey = file.survey();
        let segment = u16::try_from(1 + bit / 8 / 4096).expect("a segment");
        let is_named = survey.flipped_bits.iter().any(|(flipped, _)| *flipped == segment)
            || survey.faults.iter().any(|fault| fault.segment == segment)
            || survey.torn == Some(segment);
        assert!(is_named, "bit {bit}: {survey:?}");
    }
}

#[test]
fn records_are_put_together_across_segments() {
    let mut forge = ForgedLog::new(1);
    let mut insert = vec![0; 50 + 3 + 90];
    (insert[0], insert[44], insert[48]) = (29, 3, 90);
    insert[50..53].copy_from_slice(b"key");
    forge.add(&[[76, 143, 0, 0, 0, 60, 0].as_slice(), &insert[..60]].concat());
    forge.close();
    forge.add(&[[77, 83, 0].as_slice(), &insert[60..]].concat());
    forge.add(&begin(1));
    forge.close();
    let file = LogFile::open(&forge.bytes).expect("a log");
    let survey = file.survey();
    let records: Vec<_> = file.records(&survey).map(|record| record.expect("sound")).collect();
    let names: Vec<_> = records.iter().map(|record| record.name().expect("known")).collect();
    assert_eq!(names, ["Insert", "Begin0"]);
    assert_eq!(records[0].bytes(), insert);
    assert_eq!(records[0].place().segment, 1);
}

#[test]
fn a_record_that_a_crash_cut_short_is_void() {
    let mut forge = ForgedLog::new(1);
    forge.add(&[76, 143, 0, 0, 0, 2, 0, 29, 0]);
    forge.close();
    forge.add(&[51, 0, 0, 0, 0, 0, 0, 0, 0]);
    forge.close();
    let file = LogFile::open(&forge.bytes).expect("a log");
    let survey = file.survey();
    let records: Vec<_> = file.records(&survey).collect();
    let fault = records[0].as_ref().expect_err("cut short").fault;
    assert_eq!(fault, RecordFault::CutShort);
    assert_eq!(records[1].as_ref().expect("sound").name(), Some("RecoveryUndo2"));
}

#[test]
fn an_unknown_type_has_a_number_and_takes_the_rest_of_its_segment() {
    let mut forge = ForgedLog::new(1);
    forge.add(&[200, 1, 2, 3]);
    forge.close();
    forge.add(&begin(1));
    forge.close();
    let file = LogFile::open(&forge.bytes).expect("a log");
    let survey = file.survey();
    let records: Vec<_> = file.records(&survey).map(|record| record.expect("sound")).collect();
    assert_eq!((records[0].kind(), records[0].name()), (200, None));
    assert_eq!(records[0].bytes().len(), 4096 - 40);
    assert_eq!(records[1].name(), Some("Begin0"));
}

/// The gaps reported for two generations.
fn gaps(first: &ForgedLog, second: &ForgedLog) -> Vec<String> {
    let files = [("one", first), ("two", second)];
    let members = files.map(|(name, forge)| {
        LogMember::of(name.to_owned(), &LogFile::open(&forge.bytes).expect("a log"))
    });
    LogSet::of(members.into()).gaps().iter().map(ToString::to_string).collect()
}

#[test]
fn a_generation_that_was_changed_since_is_told_by_the_next_one() {
    let first = forged();
    let checksum = LogFile::open(&first.bytes).expect("a log").survey().checksum;
    let mut second = ForgedLog::new(2);
    second.follows(checksum);
    second.add(&begin(1));
    second.close();
    assert_eq!(gaps(&first, &second), [""; 0]);
    let mut other = forged();
    other.segment(2)[40 + 4] = 8;
    seal(&mut other.bytes, 1, 2);
    assert_eq!(
        gaps(&other, &second),
        ["two states another checksum of the generation before it, which has been changed or \
             exchanged since"]
    );
}

#[test]
fn missing_generations_are_named() {
    let files = [1, 2, 5].map(|generation| {
        let mut forge = ForgedLog::new(generation);
        forge.add(&begin(1));
        forge.close();
        forge
    });
    let members = files
        .iter()
        .map(|forge| LogMember::of("log".to_owned(), &LogFile::open(&forge.bytes).expect("a log")));
    let set = LogSet::of(members.collect());
    let gaps: Vec<String> = set.gaps().iter().map(ToString::to_string).collect();
    assert_eq!(gaps, ["generations 0x3-0x4 are missing"]);
    assert!(set.sentence().starts_with("generations 0x1-0x5 incomplete or damaged"));
}
