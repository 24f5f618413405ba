//! `check`: verifies the checksum of every page of every file, as fast as the storage reads.

pub(crate) mod flags;
mod flipped;
mod steps;

use ese::flush_map::MapRefusal;
use ese::page_state::PageDamage;
use host::HostError;
use host::dirty::Dirty;
use host::ranges::{self, Cause, PagePlace, Range};
use host::scan::{FileFault, ScanTarget, Scanned, scan};
use integrity::{Damage, DamagedPage, Tally};
use serde_json::{Value, json};

use super::genuine_log;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;
use console::term::ProgressLine;
use flags::CheckFlags;

pub(super) use flipped::is_flipped;
pub(super) use steps::{fault_text, next_steps, steps_beside_export, worst_step};

/// Indent of the continuation lines of a finding.
const INDENT: usize = 4;

/// Checks the files; fails if any is damaged, and gives no verdict on a sound one that was not
/// closed.
pub(crate) fn run(flags: &CheckFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.files.iter().any(|path| genuine_log::holds_logs(path)) {
        return genuine_log::check::run(flags, console);
    }
    let targets: Result<Vec<ScanTarget>, HostError> =
        flags.files.iter().map(|path| ScanTarget::open(path, flags.foreign)).collect();
    let mut targets = targets?;
    targets.sort_by(|one, two| one.path.cmp(&two.path));
    let mut progress = ProgressLine::new("checking", console.is_quiet());
    let scanned = scan(targets, &mut |done, total| progress.bytes(done, total))?;
    progress.clear();
    let files: Vec<CheckedPages> = scanned.into_iter().map(CheckedPages::of).collect();
    if flags.json {
        console.answer_json(
            "check",
            json!({ "files": files.iter().map(as_json).collect::<Vec<_>>() }),
        )?;
    } else {
        for checked in &files {
            print_state(&checked.file, console)?;
            print_ranges(checked, checked.ranges.iter(), console)?;
            print_summary(&checked.file, console)?;
            print_judgement(checked, console)?;
            print_steps(checked, console)?;
        }
        tell_of_maps(&files, console)?;
    }
    Ok(worst(files.iter().map(CheckedPages::outcome)))
}

/// The worst outcome: failures first, then files that cannot be judged.
pub(super) fn worst(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    outcomes.fold(Outcome::Pass, |worst, outcome| match (worst, outcome) {
        (Outcome::Fail, _) | (_, Outcome::Fail) => Outcome::Fail,
        (Outcome::CannotJudge, _) | (_, Outcome::CannotJudge) => Outcome::CannotJudge,
        _ => Outcome::Pass,
    })
}

/// A scanned file, and its damage as ranges.
pub(super) struct CheckedPages {
    pub file: Scanned,
    pub ranges: Vec<Range>,
}

impl CheckedPages {
    pub(super) fn of(file: Scanned) -> Self {
        let ranges = ranges::of(&file);
        Self { file, ranges }
    }

    fn pages_of(&self, of: impl Fn(&Range) -> bool) -> u64 {
        self.ranges.iter().filter(|range| of(range)).map(Range::pages).sum()
    }

    fn pages_by(&self, cause: Cause) -> u64 {
        self.pages_of(|range| range.cause == cause)
    }

    /// Pages with damage that neither a crash nor an engine without checksums explains.
    pub(super) fn damaged(&self) -> u64 {
        let explained = self.pages_of(|range| range.cause != Cause::Damage);
        self.file.tally.bad - explained
    }

    /// Data only in the log proves nothing about the file, nor do pages without checksums.
    pub(super) fn outcome(&self) -> Outcome {
        if !self.file.target.faults.is_empty() || self.damaged() > 0 {
            Outcome::Fail
        } else if self.file.target.dirty.is_some() || self.pages_by(Cause::NoChecksum) > 0 {
            Outcome::CannotJudge
        } else {
            Outcome::Pass
        }
    }
}

/// Prints the state of a file that was not closed and of its log, and the faults of the file as a
/// whole. Faults of a cut file come first, since its log is of no use.
pub(super) fn print_state(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    if file.target.faults.iter().any(FileFault::is_cut) {
        print_faults(file, console)?;
        print_log(file, console)
    } else {
        print_log(file, console)?;
        print_faults(file, console)
    }
}

fn print_log(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    let path = &file.target.path;
    if let Some(dirty) = &file.target.dirty {
        console
            .answer_folded(dirty.advice(path, &shell_word(path), &file.target.faults), INDENT)?;
        for sentence in dirty.log.sentences() {
            console.answer_folded(format_args!("{}: {sentence}", path.display()), INDENT)?;
        }
    }
    Ok(())
}

fn print_faults(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    for fault in &file.target.faults {
        let path = file.target.path.display();
        console.answer_folded(format_args!("{path}: {fault}"), INDENT)?;
    }
    Ok(())
}

/// Names damaged pages; those that were written without checksums are named together.
pub(super) fn print_ranges<'r>(
    checked: &CheckedPages,
    ranges: impl Iterator<Item = &'r Range>,
    console: &mut Console,
) -> Result<(), CommandError> {
    let file = &checked.file;
    let path = file.target.path.display();
    for range in ranges.filter(|range| range.cause != Cause::NoChecksum) {
        let what = range_words(range, file);
        console.answer_folded(format_args!("{path}: {what}; {}", range.place), INDENT)?;
    }
    let unlisted = file.tally.bad - file.tally.findings.len() as u64;
    if unlisted > 0 {
        let line = format_args!("{path}: and {unlisted} more damaged pages");
        console.answer_folded(line, INDENT)?;
    }
    Ok(())
}

fn range_words(range: &Range, file: &Scanned) -> String {
    let (first, last) = (range.first, range.last);
    let pages =
        if first == last { format!("page {first}") } else { format!("pages {first}-{last}") };
    match (range.cause, &range.finding.damage) {
        (Cause::Crash, _) => {
            format!("{pages}: torn: a write was under way at the crash; its log makes it anew")
        }
        (_, Damage::Page(PageDamage::Checksum { .. })) if first != last => {
            format!("{pages}: damaged beyond repair: their checksums are wrong")
        }
        _ => format!("{pages}: {}", words(&range.finding, file)),
    }
}

/// Prints the origin of pages without checksums; true if there are any.
pub(super) fn print_bare(
    checked: &CheckedPages,
    console: &mut Console,
) -> Result<bool, CommandError> {
    let (path, bare) = (checked.file.target.path.display(), checked.pages_by(Cause::NoChecksum));
    if bare > 0 {
        let line = format_args!(
            "{path}: pages without checksums: {bare}; that is the temporary database of an \
             engine, which cannot be judged; export --without-checksums reads it"
        );
        console.answer_folded(line, INDENT)?;
    }
    Ok(bare > 0)
}

/// Prints what to do about the damage.
pub(super) fn print_steps(
    checked: &CheckedPages,
    console: &mut Console,
) -> Result<(), CommandError> {
    let target = &checked.file.target;
    for step in steps::next_steps(&target.path, &target.faults, &checked.ranges) {
        console.answer_folded(step, INDENT)?;
    }
    Ok(())
}

/// Summary of the damage, and the findings of `verify` about it.
fn print_judgement(checked: &CheckedPages, console: &mut Console) -> Result<(), CommandError> {
    let path = checked.file.target.path.display();
    print_bare(checked, console)?;
    let torn = checked.pages_by(Cause::Crash);
    if torn > 0 {
        let torn = units::plural(torn, "torn page");
        let line = format_args!("{path}: {torn}, as a crash leaves them, not judged");
        console.answer_folded(line, INDENT)?;
    }
    let foreign = checked.file.tally.foreign;
    if checked.file.target.dirty.is_some() && foreign > 0 {
        let pages = units::plural(foreign, "page");
        let line = format_args!(
            "{path}: {pages} past those that the database owns as far as its file says, judged for \
             flipped bits only: its log may own them"
        );
        console.answer_folded(line, INDENT)?;
    }
    let damaged = checked.damaged();
    let unused =
        checked.pages_of(|range| range.cause == Cause::Damage && range.place == PagePlace::Unused);
    if damaged > 0 && unused == damaged {
        let line = format_args!(
            "{path}: all damage lies in space that no table uses: no data is touched; verify \
             agrees, and whether the storage made it is open"
        );
        console.answer_folded(line, INDENT)?;
    } else if damaged > 0 {
        let line = format_args!(
            "{path}: plimsoll verify {path} says whether what the other pages hold agrees"
        );
        console.answer_folded(line, INDENT)?;
    }
    Ok(())
}

/// Describes the damage; for two swapped pages, each names the other.
fn words(finding: &DamagedPage, file: &Scanned) -> String {
    if let Damage::Page(PageDamage::WrongNumber { really }) = finding.damage {
        let exchange = Damage::Page(PageDamage::WrongNumber { really: finding.page });
        let other = file.tally.findings.iter().find(|other| other.page == really);
        if other.is_some_and(|other| other.damage == exchange) {
            return format!("holds page {really}, and page {really} holds this one: swapped");
        }
        let difference = finding.page.0 ^ really.0;
        if file.target.page_size.is_small() && difference.is_power_of_two() {
            // The page number is part of the checksum, and a small page has no second checksum to
            // consult.
            let bit = difference.trailing_zeros();
            return format!(
                "{}, or one bit flipped at byte {} bit {}, in the page's own checksum",
                finding.damage,
                bit / 8,
                bit % 8
            );
        }
    }
    finding.damage.to_string()
}

/// Summary of the pages read.
fn print_summary(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    let (path, tally) = (file.target.path.display(), &file.tally);
    console.answer_folded(
        format_args!(
            "{path}: {} pages seen, {}; {} in {:.2} seconds, {:.0} MiB/s",
            tally.seen,
            bad_words(tally.bad, tally.correctable),
            file.bytes(tally.seen),
            file.took.as_secs_f64(),
            file.speed(),
        ),
        INDENT,
    )?;
    let lost = match (file.lost_flushes(), file.pages_judged_by_map()) {
        (Some(lost), Some(known)) if known < u64::from(file.target.pages) => {
            format!("{lost} (of {known} pages that the flush map knows)")
        }
        (Some(lost), _) => lost.to_string(),
        (None, _) => "-".to_owned(),
    };
    console.answer_folded(
        format_args!(
            "    correctable {}, wrong number {}, lost flushes {lost}, uninitialised {}, \
             foreign {}",
            tally.correctable, tally.wrong_number, tally.uninitialised, tally.foreign,
        ),
        INDENT,
    )?;
    if !file.unbuffered {
        let why =
            "the file system has no unbuffered I/O: what the medium holds was perhaps not read";
        let line = format_args!("    read through the operating system's cache, for {why}");
        console.answer_folded(line, INDENT)?;
    }
    let skipped = file.target.skipped_pages();
    if skipped > 0 {
        let (first, bytes) = (file.target.last_read.0 + 1, file.bytes(skipped.into()));
        console.answer_folded(
            format_args!(
                "    not read: {} from page {first} on ({bytes}), no part of the database; \
                 --foreign reads them too",
                units::plural(skipped.into(), "page")
            ),
            INDENT,
        )?;
    }
    Ok(())
}

/// The number of damaged pages. A page whose damage is corrected counts as bad: the storage changed
/// it all the same.
fn bad_words(bad: u64, correctable: u64) -> String {
    match correctable {
        0 => format!("{bad} bad"),
        all if all == bad => format!("{bad} bad, but correctable"),
        some => format!("{bad} bad, {some} of them correctable"),
    }
}

/// Says why lost writes cannot be detected in a file that names a flush map.
fn tell_of_maps(files: &[CheckedPages], console: &mut Console) -> Result<(), CommandError> {
    for CheckedPages { file, .. } in files {
        if let Err(refusal @ (MapRefusal::Missing | MapRefusal::Foreign | MapRefusal::NotClean)) =
            &file.target.flush_map
        {
            let path = file.target.path.display();
            console.remark(format_args!("{path}: {refusal}; lost writes cannot be detected"))?;
        }
    }
    Ok(())
}

fn as_json(checked: &CheckedPages) -> Value {
    let file = &checked.file;
    let Tally { seen, bad, correctable, wrong_number, uninitialised, foreign, .. } = &file.tally;
    let findings = file.tally.findings.iter().map(|finding| {
        json!({
            "page": finding.page.0,
            "damage": kind(&finding.damage),
            "text": words(finding, file),
        })
    });
    json!({
        "file": file.target.path.display().to_string(),
        "page_size_bytes": file.target.page_size.bytes(),
        "seen_pages": seen,
        "bad_pages": bad,
        "correctable_pages": correctable,
        "wrong_page_number_pages": wrong_number,
        "lost_flush_pages": file.lost_flushes(),
        "flush_map_pages": file.pages_judged_by_map(),
        "flush_map": flush_map_word(file),
        "uninitialised_pages": uninitialised,
        "foreign_pages": foreign,
        "skipped_pages": file.target.skipped_pages(),
        "unbuffered": file.unbuffered,
        "bytes": file.bytes(*seen).0,
        "seconds": file.took.as_secs_f64(),
        "mib_per_second": file.speed(),
        "not_closed": file.target.dirty.as_ref().map(Dirty::as_json),
        "file_faults": file.target.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "findings": findings.collect::<Vec<_>>(),
        "ranges": checked.ranges.iter().map(range_json).collect::<Vec<_>>(),
    })
}

/// A range for programs.
pub(super) fn range_json(range: &Range) -> Value {
    json!({
        "first_page": range.first.0,
        "last_page": range.last.0,
        "damage": kind(&range.finding.damage),
        "cause": match range.cause {
            Cause::Damage => "damage",
            Cause::Crash => "crash",
            Cause::NoChecksum => "no_checksum",
        },
        "unused": range.place == PagePlace::Unused,
        "place": range.place.to_string(),
    })
}

/// State of the flush map, in one word for programs.
const fn flush_map_word(file: &Scanned) -> &'static str {
    match file.target.flush_map {
        Ok(_) => "believed",
        Err(MapRefusal::Unpaired) => "none",
        Err(MapRefusal::Missing) => "missing",
        Err(MapRefusal::Foreign) => "foreign",
        Err(MapRefusal::NotClean) => "not_clean",
        Err(MapRefusal::Damaged(_)) => "damaged",
        Err(_) => "other",
    }
}

/// The damage in one word for programs.
const fn kind(damage: &Damage) -> &'static str {
    match damage {
        Damage::Page(PageDamage::FlippedBit { .. } | PageDamage::FlippedChecksum { .. }) => {
            "flipped_bit"
        }
        Damage::Page(PageDamage::LostFlush { .. }) => "lost_flush",
        Damage::Page(PageDamage::Torn) => "torn",
        Damage::Page(PageDamage::Checksum { .. }) => "checksum",
        Damage::Page(PageDamage::WrongNumber { .. }) => "wrong_page_number",
        Damage::Page(PageDamage::Wiped) => "wiped",
        Damage::Page(PageDamage::Malformed(_)) => "malformed",
        Damage::Unreadable(_) => "unreadable",
        Damage::Page(_) => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::bad_words;

    #[test]
    fn bad_pages_say_how_many_of_them_are_correctable() {
        assert_eq!(bad_words(0, 0), "0 bad");
        assert_eq!(bad_words(2, 0), "2 bad");
        assert_eq!(bad_words(1, 1), "1 bad, but correctable");
        assert_eq!(bad_words(3, 1), "3 bad, 1 of them correctable");
    }
}
