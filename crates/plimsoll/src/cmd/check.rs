//! `check`: every page of every file against its checksum, as fast as the storage reads.

use ese::flush_map::MapRefusal;
use ese::page_state::PageDamage;
use integrity::{Damage, Finding, Tally};
use serde_json::{Value, json};
use units::Bytes;

use super::dirty::Dirty;
use crate::Outcome;
use crate::console::Console;
use crate::error::CommandError;
use crate::flags::CheckFlags;
use crate::scan::{Scanned, Target, scan};
use crate::term::Progress;

/// Checks the files; fails where any is damaged, and judges none that was not closed and is else
/// sound.
pub(crate) fn run(flags: &CheckFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let targets: Result<Vec<Target>, CommandError> =
        flags.files.iter().map(|path| Target::open(path)).collect();
    let targets = targets?;
    let mut progress = Progress::new("checking", console.is_quiet());
    let files = scan(targets, &mut progress)?;
    progress.clear();
    if flags.json {
        console.answer_json(&Value::Array(files.iter().map(as_json).collect()))?;
    } else {
        for file in &files {
            if let Some(dirty) = &file.target.dirty {
                console.answer(dirty.sentence(&file.target.path))?;
            }
            print_findings(file, console)?;
        }
        print_table(&files, console)?;
        tell_of_maps(&files, console)?;
    }
    let sound = files
        .iter()
        .all(|file| file.target.faults.is_empty() && file.tally.bad == 0);
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
        console.answer(format_args!("{path}: {fault}"))?;
    }
    for finding in &file.tally.findings {
        console.answer(format_args!(
            "{path}: page {}: {}",
            finding.page,
            words(finding, file)
        ))?;
    }
    let unlisted = file.tally.bad - file.tally.findings.len() as u64;
    if unlisted > 0 {
        console.answer(format_args!("{path}: and {unlisted} more damaged pages"))?;
    }
    Ok(())
}

/// What is wrong; of two pages that have changed places, each names the other.
fn words(finding: &Finding, file: &Scanned) -> String {
    if let Damage::Page(PageDamage::WrongNumber { really }) = finding.damage {
        let exchange = Damage::Page(PageDamage::WrongNumber {
            really: finding.page,
        });
        let other = file
            .tally
            .findings
            .iter()
            .find(|other| other.page == really);
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

fn print_table(files: &[Scanned], console: &mut Console) -> Result<(), CommandError> {
    console.answer(format_args!(
        "{:>10} {:>8} {:>11} {:>12} {:>12} {:>13} {:>8} {:>10} {:>8} {:>8}  file",
        "seen",
        "bad",
        "correctable",
        "wrong number",
        "lost flushes",
        "uninitialised",
        "foreign",
        "MiB",
        "seconds",
        "MiB/s",
    ))?;
    for file in files {
        let (tally, mebibytes) = (&file.tally, file.mebibytes());
        console.answer(format_args!(
            "{:>10} {:>8} {:>11} {:>12} {:>12} {:>13} {:>8} {:>10.0} {:>8.2} {:>8.0}  {}",
            tally.seen,
            tally.bad,
            tally.correctable,
            tally.wrong_number,
            file.lost_flushes()
                .map_or("-".to_owned(), |lost| lost.to_string()),
            tally.uninitialised,
            tally.foreign,
            mebibytes,
            file.took.as_secs_f64(),
            file.speed(),
            file.target.path.display(),
        ))?;
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
            console.remark(format_args!(
                "{path}: {refusal}; lost flushes were not looked for"
            ))?;
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

    fn mebibytes(&self) -> f64 {
        Bytes(self.tally.seen * self.target.page_size.bytes_u64()).as_mib_f64()
    }

    /// MiB per second.
    fn speed(&self) -> f64 {
        self.mebibytes() / self.took.as_secs_f64().max(1e-6)
    }
}

fn as_json(file: &Scanned) -> Value {
    let Tally {
        seen,
        bad,
        correctable,
        wrong_number,
        uninitialised,
        foreign,
        ..
    } = &file.tally;
    let finding = |finding: &Finding| {
        json!({
            "page": finding.page.0,
            "kind": kind(&finding.damage),
            "text": words(finding, file),
        })
    };
    json!({
        "file": file.target.path.display().to_string(),
        "page_size_bytes": file.target.page_size.bytes(),
        "seen": seen,
        "bad": bad,
        "correctable": correctable,
        "wrong_page_number": wrong_number,
        "lost_flushes": file.lost_flushes(),
        "flush_map": flush_map_word(file),
        "uninitialised": uninitialised,
        "foreign": foreign,
        "bytes": seen * file.target.page_size.bytes_u64(),
        "seconds": file.took.as_secs_f64(),
        "mib_per_second": file.speed(),
        "not_closed": file.target.dirty.as_ref().map(Dirty::as_json),
        "file_faults": file.target.faults.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "findings": file.tally.findings.iter().map(finding).collect::<Vec<_>>(),
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
