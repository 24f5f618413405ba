//! Another number of databases or volumes.

use units::{decimal, plural};

use super::{is_fitting, whole};
use crate::key::Key;
use crate::number::write;
use crate::work::Work;

/// Most volumes of a server that a document may give.
const MOST_VOLUMES: f64 = 100.0;

/// The number of databases with which none exceeds its target of mailboxes.
pub(crate) fn more_databases(work: &Work<'_>, key: Key) -> Option<String> {
    let sheet = &work.sheet;
    let mailboxes = sheet.number(Key::ServerMailboxesPerDag)?;
    let target = sheet.number(Key::DatabaseMailboxesTarget).filter(|target| *target > 0.0)?;
    let needed = (mailboxes / target - 1e-9).ceil();
    let more = needed - sheet.number(Key::DatabaseCount)?;
    let given = whole(needed)?;
    let may_be =
        more > 0.0 && is_fitting(work, key, |variant| variant.data.database_count = Some(given));
    let count = decimal(more, 0);
    let noun = if count == "1" { "database" } else { "databases" };
    may_be.then(|| format!("{count} more {noun} (data.databases = {given})"))
}

/// As many databases as the servers may hold.
pub(crate) fn fewer_databases(work: &Work<'_>, key: Key) -> Option<String> {
    let most = whole(work.value(Key::DatabaseMaxCountPerDag).floor())?;
    let may_be = is_fitting(work, key, |variant| variant.data.database_count = Some(most));
    may_be.then(|| format!("{} (data.databases = {most})", plural(u64::from(most), "database")))
}

/// As many volumes as a server needs: the workbook counts fractions, the document takes whole ones.
pub(crate) fn more_volumes(work: &Work<'_>, key: Key) -> Option<String> {
    let total = (work.value(Key::VolumeTotalPerServer) - 1e-9).ceil();
    let enough = whole(total).filter(|_| total <= MOST_VOLUMES)?;
    let may_be = is_fitting(work, key, |of| of.storage.volumes_per_server = Some(enough));
    may_be.then(|| format!("more volumes (storage.volumes_per_server = {})", write(total)))
}
