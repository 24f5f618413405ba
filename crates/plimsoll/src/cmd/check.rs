//! `check`: every page of every file against its checksum, as fast as the storage reads.

use ese::flush_map::MapRefusal;
use ese::page_state::PageDamage;
use integrity::{Damage, DamagedPage, Tally};
use serde_json::{Value, json};
use units::Bytes;

use super::dirty::Dirty;
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::CheckFlags;
use crate::scan::{ScanTarget, Scanned, scan};
use crate::term::Progress;

/// Spaces before what does not fit into the first line of a finding.
const INDENT: usize = 4;

/// Checks the files; fails where any is damaged, and judges none that was not closed and is else
/// sound.
pub(crate) fn run(flags: &CheckFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let targets: Result<Vec<ScanTarget>, CommandError> =
        flags.files.iter().map(|path| ScanTarget::open(path, flags.foreign)).collect();
    let targets = targets?;
    let mut progress = Progress::new("checking", console.is_quiet());
    let files = scan(targets, &mut progress)?;
    progress.clear();
    if flags.json {
        console.answer_json(
            "check",
            json!({ "files": files.iter().map(as_json).collect::<Vec<_>>() }),
        )?;
    } else {
        for file in &files {
            if let Some(dirty) = &file.target.dirty {
                console.answer_folded(dirty.sentence(&file.target.path), INDENT)?;
            }
            print_findings(file, console)?;
            print_summary(file, console)?;
        }
        tell_of_maps(&files, console)?;
    }
    let sound = files.iter().all(|file| file.target.faults.is_empty() && file.tally.bad == 0);
    let closed = files.iter().all(|file| file.target.dirty.is_none());
    Ok(match (sound, closed) {
        (true, true) => Outcome::Pass,
        // What is only in the log proves nothing about the file.
        (true, false) => Outcome::CannotJudge,
        (false, _) => Outcome::Fail,
    })
}

fn print_findings(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    let path = file.target.path.display();
    for fault in &file.target.faults {
        console.answer_folded(format_args!("{path}: {fault}"), INDENT)?;
    }
    for finding in &file.tally.findings {
        let words = words(finding, file);
        console.answer_folded(format_args!("{path}: page {}: {words}", finding.page), INDENT)?;
    }
    let unlisted = file.tally.bad - file.tally.findings.len() as u64;
    if unlisted > 0 {
        let line = format_args!("{path}: and {unlisted} more damaged pages");
        console.answer_folded(line, INDENT)?;
    }
    Ok(())
}

/// What is wrong; of two pages that have changed places, each names the other.
fn words(finding: &DamagedPage, file: &Scanned) -> String {
    if let Damage::Page(PageDamage::WrongNumber { really }) = finding.damage {
        let exchange = Damage::Page(PageDamage::WrongNumber { really: finding.page });
        let other = file.tally.findings.iter().find(|other| other.page == really);
        if other.is_some_and(|other| other.damage == exchange) {
            return format!("holds page {really}, and page {really} holds this one: swapped");
        }
        let difference = finding.page.0 ^ really.0;
        if file.target.page_size.is_small() && difference.is_power_of_two() {
            // The number is part of the checksum, and a small page has no second one to ask.
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

/// What was read of the file and what it is worth.
fn print_summary(file: &Scanned, console: &mut Console) -> Result<(), CommandError> {
    let (path, tally) = (file.target.path.display(), &file.tally);
    console.answer_folded(
        format_args!(
            "{path}: {} pages seen, {} bad; {:.0} MiB in {:.2} seconds, {:.0} MiB/s",
            tally.seen,
            tally.bad,
            file.mebibytes(),
            file.took.as_secs_f64(),
            file.speed(),
        ),
        INDENT,
    )?;
    let lost = file.lost_flushes();
    let lost = lost.map_or("-".to_owned(), |lost| lost.to_string());
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
                "    {skipped} pages from {first} on ({bytes}) are no part of the database and \
                 were not read; --foreign reads them"
            ),
            INDENT,
        )?;
    }
    Ok(())
}

/// Says why lost flushes could not be looked for in a file that names a flush map.
fn tell_of_maps(files: &[Scanned], console: &mut Console) -> Result<(), CommandError> {
    for file in files {
        if let Err(refusal @ (MapRefusal::Missing | MapRefusal::Foreign | MapRefusal::NotClean)) =
            &file.target.flush_map
        {
            let path = file.target.path.display();
            console.remark(format_args!("{path}: {refusal}; lost flushes were not looked for"))?;
        }
    }
    Ok(())
}

impl Scanned {
    /// Pages that lost their last write; none where there is no flush map to tell.
    fn lost_flushes(&self) -> Option<u64> {
        let is_known = self.target.flush_map.is_ok();
        is_known.then_some(self.tally.lost_flushes)
    }

    fn bytes(&self, pages: u64) -> Bytes {
        Bytes(pages * self.target.page_size.bytes_u64())
    }

    fn mebibytes(&self) -> f64 {
        self.bytes(self.tally.seen).as_mib_f64()
    }

    /// MiB per second.
    fn speed(&self) -> f64 {
        self.mebibytes() / self.took.as_secs_f64().max(1e-6)
    }
}

fn as_json(file: &Scanned) -> Value {
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
    })
}

/// What became of the flush map, in one word for programs.
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
