//! Problems that the number and size of databases reveal in a deployment.

use units::{counted, plural, three_digits};

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
        let held = counted(&held, "database");
        let text = format!("a server holds {held} and may hold {}", three_digits(each));
        let found = [
            remedy::more_servers(work.deployment, |sheet| holds(sheet, each)),
            remedy::larger_disks(work.deployment, |sheet| holds(sheet, each)),
            remedy::more_groups(work.deployment, |sheet| holds(sheet, each)),
        ];
        let otherwise = "allow larger databases (data.largest_database), or fewer copies";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::ServerDbCopies(ServerKind::First), text, remedy);
    }
    given_count(work);
    overfull(work);
    if work.value(Key::DatabaseMailboxesCapacityLimited) < 1.0 {
        let text = "not even one mailbox fits into a database".to_owned();
        let found = [remedy::larger_disks(work.deployment, fits_one)];
        let otherwise = "allow larger databases (data.largest_database), or lower \
                         data.overhead_percent";
        let remedy = remedy::one_of(found, otherwise);
        work.find(Violation, Key::DatabaseMailboxesCapacityLimited, text, remedy);
    }
}

/// Databases with more mailboxes than capacity or I/O allows.
fn overfull(work: &mut Work<'_>) {
    if has_room(&work.sheet) {
        return;
    }
    let deployment = work.deployment;
    let found = [
        remedy::more_databases(deployment, &work.sheet, has_room),
        remedy::larger_disks(deployment, has_room),
        remedy::faster_disks(deployment, has_room),
        remedy::fewer_on_a_volume(deployment, has_room),
        remedy::more_servers(deployment, has_room),
        remedy::more_groups(deployment, has_room),
    ];
    let found = remedy::or_fewer_mailboxes(found, deployment, has_room);
    let otherwise = match limited_by(&work.sheet) {
        MailboxLimit::Capacity => {
            "take larger disks or smaller mailboxes, or add servers or groups"
        }
        MailboxLimit::Io => {
            "take faster disks, fewer databases on a volume or RAID, or add servers or groups"
        }
    };
    let remedy = remedy::one_of(found, otherwise);
    let text = overfull_text(work);
    work.find(Violation, Key::DatabaseMailboxes, text, remedy);
}

/// Names the limit that binds, and the other one beside it if it is known.
fn overfull_text(work: &Work<'_>) -> String {
    let [held, room] = work.beside(Key::DatabaseMailboxes, Key::DatabaseMailboxesTarget);
    let held = counted(&held, "mailbox");
    let capacity = Key::DatabaseMailboxesCapacityLimited;
    if limited_by(&work.sheet) == MailboxLimit::Io {
        let fitting = work.shown(capacity);
        return format!(
            "a database would hold {held} and its share of a disk's I/O is enough for \
             {room} (by capacity, {fitting} would fit)"
        );
    }
    let text = format!("a database would hold {held} and by capacity {room} fit");
    let io = Key::DatabaseMailboxesIoLimited;
    let served = work.sheet.find(io).map(|_| work.shown(io));
    served.map_or(text.clone(), |served| {
        format!("{text} (its share of a disk's I/O is enough for {served})")
    })
}

/// Which limit determines how many mailboxes a database may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MailboxLimit {
    Capacity,
    Io,
}

fn limited_by(sheet: &Sheet) -> MailboxLimit {
    let io = sheet.number(Key::DatabaseMailboxesIoLimited);
    let capacity = sheet.number(Key::DatabaseMailboxesCapacityLimited);
    match io.zip(capacity) {
        Some((io, capacity)) if io < capacity => MailboxLimit::Io,
        _ => MailboxLimit::Capacity,
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
        "{} given, and the servers of a group may hold {}; the sizing is for all that are given",
        plural(u64::from(given), "database"),
        work.shown(Key::DatabaseMaxCountPerDag)
    );
    let remedy = format!(
        "fewer databases (data.databases = {} at most), or raise availability.servers_per_site or \
         dags",
        write(most.floor())
    );
    work.find(Violation, Key::DatabaseMaxCountPerDag, text, remedy);
}
