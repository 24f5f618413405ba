//! Problems that the number and size of databases reveal in a deployment.

use units::{thousands, three_digits};

use crate::finding::Severity::Violation;
use crate::key::{Key, ServerKind};
use crate::number::write;
use crate::remedy;
use crate::sheet::Sheet;
use crate::work::Work;

/// Databases of a server and of a group, and the mailboxes in each.
pub(super) fn judge(work: &mut Work<'_>) {
    let each = work.deployment.product.figures.databases_per_server.value;
    let copies = work.value(Key::ServerDbCopies(ServerKind::First));
    if copies <= 0.0 {
        let text = "a server holds less than half a copy, which the workbook rounds to none";
        let remedy = "lower availability.servers_per_site, or give mode = \"corrected\"";
        work.find(Violation, Key::ServerDbCopies(ServerKind::First), text.to_owned(), remedy);
    }
    if copies > each {
        let held = work.shown(Key::ServerDbCopies(ServerKind::First));
        let text = format!("a server holds {held} databases and may hold {}", three_digits(each));
        let found = [
            remedy::more_servers(work.deployment, |sheet| holds(sheet, each)),
            remedy::larger_disks(work.deployment, |sheet| holds(sheet, each)),
        ];
        let otherwise = "add groups (availability.dags), or allow larger databases";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::ServerDbCopies(ServerKind::First), text, remedy);
    }
    given_count(work);
    let (mailboxes, target) =
        (work.value(Key::DatabaseMailboxes), work.value(Key::DatabaseMailboxesTarget));
    if mailboxes > target {
        let [held, room] = work.beside(Key::DatabaseMailboxes, Key::DatabaseMailboxesTarget);
        let text = format!("a database would hold {held} mailboxes and {room} have room");
        let found = [
            remedy::more_databases(&work.sheet),
            remedy::larger_disks(work.deployment, has_room),
            remedy::more_servers(work.deployment, has_room),
        ];
        let otherwise = "add servers or groups, or take larger disks or smaller mailboxes";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::DatabaseMailboxes, text, remedy);
    }
    if work.value(Key::DatabaseMailboxesCapacityLimited) < 1.0 {
        let text = "not even one mailbox fits into a database".to_owned();
        let found = [remedy::larger_disks(work.deployment, fits_one)];
        let otherwise = "allow larger databases (data.largest_database), or lower \
                         data.overhead_percent";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::DatabaseMailboxesCapacityLimited, text, remedy);
    }
}

/// Whether a server holds no more than `most` copies.
fn holds(sheet: &Sheet, most: f64) -> bool {
    sheet.number(Key::ServerDbCopies(ServerKind::First)).is_some_and(|copies| copies <= most)
}

/// Whether the mailboxes of a database fit in it.
fn has_room(sheet: &Sheet) -> bool {
    let both = (sheet.number(Key::DatabaseMailboxes), sheet.number(Key::DatabaseMailboxesTarget));
    matches!(both, (Some(mailboxes), Some(target)) if mailboxes <= target)
}

fn fits_one(sheet: &Sheet) -> bool {
    sheet.number(Key::DatabaseMailboxesCapacityLimited).is_some_and(|count| count >= 1.0)
}

/// A given count that the servers cannot hold is reported, not silently lowered.
fn given_count(work: &mut Work<'_>) {
    let Some(given) = work.deployment.data.database_count else {
        return;
    };
    let most = work.value(Key::DatabaseMaxCountPerDag);
    if f64::from(given) <= most {
        return;
    }
    let text = format!(
        "{} databases are given and the servers of a group may hold {}; the sizing is for that \
         many",
        thousands(u64::from(given)),
        work.shown(Key::DatabaseMaxCountPerDag)
    );
    let remedy = format!(
        "lower data.databases to {} or less, or raise availability.servers_per_site or dags",
        write(most)
    );
    work.find(Violation, Key::DatabaseMaxCountPerDag, text, remedy);
}
