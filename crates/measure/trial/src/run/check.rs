//! Reads every page of every closed database, all databases at the same time, for a checksum pass
//! or a backup.

use std::ops::ControlFlow;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use device::{Device, DeviceError, OpenMode, Volume};
use engine::flush_map_file;
use ese::flush_map::{FlushMap, MapRefusal};
use ese::page::PageSize;
use ese::page_state::PageDamage;
use record::{BackupCopy, Checksum, Event};
use units::Nanos;

use super::Group;
use super::backup_copy::{self, BackupFile};
use super::open::Opened;
use super::reading::Reading;
use super::undone::PassSoFar;
use crate::coordinator::Stop;
use crate::location::Location;
use crate::manifest::ManifestError;
use integrity::{Damage, Tally, judge_database};

/// Maximum damaged pages per database that become separate issues.
const MOST_NAMED: usize = 10;

/// Reads and verifies `all`, and reports the findings.
pub(super) async fn check(group: &Rc<Group>, reading: Reading, all: &[Opened]) {
    let mut checks = Vec::new();
    // A failed copy cannot be read back.
    for opened in all.iter().filter(|of| reading != Reading::Copies || of.has_copy.get()) {
        let (runtime, group, opened) = (&group.runtime, Rc::clone(group), opened.clone());
        checks.push(runtime.spawn(async move { one(&group, reading, &opened).await }));
    }
    for check in checks {
        check.await;
    }
}

async fn one(group: &Group, reading: Reading, opened: &Opened) {
    let began = group.runtime.now();
    let outcome = verify(group, reading, opened).await;
    opened.pass.update(|pass| {
        let is_over = !matches!(outcome, Ok(None));
        pass.map(|pass| PassSoFar { is_over, ..pass })
    });
    match outcome {
        Ok(Some(judged)) => {
            let read = found(group, reading, opened, &judged, began);
            (group.events)(reading.event(read));
            if let Some(copy) = judged.copy {
                finish_copy(group, opened, copy, began).await;
            }
        }
        Ok(None) => {}
        Err(NotRead::Database(error)) => {
            opened.issue_recorder.not_readable(group.runtime.now(), &error);
        }
        Err(NotRead::Copy(error)) => {
            opened.issue_recorder.not_copied(group.runtime.now(), &error);
            group.coordinator().stop(Stop::Failed);
        }
    }
}

/// A database or a copy that was read to its end.
struct Judged {
    tally: Tally,
    length: u64,
    /// Its backup, except for the header.
    copy: Option<BackupFile>,
}

/// Why a database was not read at all.
enum NotRead {
    Database(DeviceError),
    Copy(ManifestError),
}

impl From<DeviceError> for NotRead {
    fn from(error: DeviceError) -> Self {
        Self::Database(error)
    }
}

/// The findings; `None` if the run had to end before the end of the file.
async fn verify(
    group: &Group,
    reading: Reading,
    opened: &Opened,
) -> Result<Option<Judged>, NotRead> {
    let location = &opened.location;
    let (volume, _) = place(location, reading);
    let device = volume.open(&location.plan.file, OpenMode::ReadOnly).await?;
    let length = device.length();
    let page_size = usize::try_from(group.plan.page_size.0)
        .ok()
        .and_then(PageSize::from_bytes)
        .expect("invariant: a plan's page size is one of the format's");
    let mut shape = reading.shape();
    let copy = match (&location.copies, reading) {
        (Some(copies), Reading::Backup) => {
            let begun =
                backup_copy::begin(location, copies, &*device, (&group.runtime, page_size)).await;
            Some(begun.map_err(NotRead::Copy)?)
        }
        _ => None,
    };
    shape.copy = copy.as_ref().map(|copy| Rc::clone(&copy.blocks));
    opened.pass.set(Some(PassSoFar { total_bytes: length, ..PassSoFar::default() }));
    let progress = progress(group, opened);
    let flush_map = flush_map(group, opened, &*device).await?;
    let runtime = group.runtime.clone();
    let tally = judge_database(runtime, device, shape, (page_size, flush_map), progress).await;
    Ok(tally.map(|tally| Judged { tally, length, copy }))
}

/// The folder of the file that `reading` reads, and its path.
fn place(location: &Location, reading: Reading) -> (&Rc<dyn Volume>, String) {
    match (&location.copies, reading) {
        (Some(copies), Reading::Copies) => {
            let path = Path::new(&copies.folder).join(&location.plan.file);
            (&copies.volume, path.display().to_string())
        }
        _ => (&location.database, location.path()),
    }
}

/// Completes a copy and reports it. Failed requests have already been reported.
async fn finish_copy(group: &Group, opened: &Opened, copy: BackupFile, began: Nanos) {
    let reads_waited_ns = copy.reads_waited().0;
    if let Ok(bytes) = copy.finish().await {
        let now = group.runtime.now();
        (group.events)(Event::BackupCopy(BackupCopy {
            at_ns: now.since(group.origin).0,
            database: opened.location.plan.index,
            bytes,
            elapsed_ns: now.since(began).0,
            reads_waited_ns,
        }));
        opened.has_copy.set(true);
    }
}

/// Reports the bytes read from the database so far, and stops if the run must end.
fn progress(group: &Group, opened: &Opened) -> impl Fn(u64) -> ControlFlow<()> + use<> {
    let (tell, coordinator) = (Rc::clone(&group.checked), Arc::clone(group.coordinator()));
    let (database, pass) = (opened.location.plan.index, Rc::clone(&opened.pass));
    move |bytes| {
        tell((database, bytes));
        pass.update(|pass| {
            pass.map(|pass| PassSoFar { done_bytes: pass.done_bytes + bytes, ..pass })
        });
        match coordinator.stopped() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }
}

/// The flush map that the database was closed with. If the database could not be closed, a missing
/// map has already been reported; otherwise it is a finding: the file lost its last header, which
/// names a map.
async fn flush_map(
    group: &Group,
    opened: &Opened,
    device: &dyn Device,
) -> Result<Option<FlushMap>, DeviceError> {
    let location = &opened.location;
    let (volume, file) = (&location.database, &location.plan.file);
    match flush_map_file::read_beside(&**volume, file, device).await? {
        Ok(map) => Ok(Some(map)),
        Err(MapRefusal::Unpaired) if !opened.is_closed() => Ok(None),
        Err(refusal) => {
            let path = location.path();
            let text = format!("{path}: {refusal}; lost writes cannot be detected");
            opened.issue_recorder.wrong_content(group.runtime.now(), path, text);
            Ok(None)
        }
    }
}

/// Reports the damage, and sums up.
fn found(
    group: &Group,
    reading: Reading,
    opened: &Opened,
    Judged { tally, length, .. }: &Judged,
    began: Nanos,
) -> Checksum {
    let now = group.runtime.now();
    let (_, path) = place(&opened.location, reading);
    for finding in tally.findings.iter().take(MOST_NAMED) {
        let text = format!("{path}: page {}: {}", finding.page, finding.damage);
        match finding.damage {
            Damage::Page(PageDamage::LostFlush { .. }) => {
                opened.issue_recorder.lost_flush(now, path.clone(), text);
            }
            _ => opened.issue_recorder.wrong_content(now, path.clone(), text),
        }
    }
    opened.issue_recorder.further_damage(&path, tally.bad.saturating_sub(MOST_NAMED as u64));
    // The header's two pages were verified when the database was opened.
    Checksum {
        at_ns: now.since(group.origin).0,
        database: opened.location.plan.index,
        seen_pages: tally.seen + 2,
        bad_pages: tally.bad - tally.correctable - tally.wrong_number - tally.lost_flushes,
        correctable_pages: tally.correctable,
        wrong_page_number_pages: tally.wrong_number,
        uninitialised_pages: tally.uninitialised,
        foreign_pages: tally.foreign,
        lost_flush_pages: tally.lost_flushes,
        bytes: *length,
        elapsed_ns: now.since(began).0,
    }
}
