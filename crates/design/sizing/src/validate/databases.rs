//! Problems that the number and size of databases reveal in a deployment.

use units::{counted, plural, three_digits};

use crate::finding::Severity::Violation;
use crate::key::{Key, ServerKind};
use crate::remedy;
use crate::sheet::Sheet;
use crate::work::Work;

/// Databases of a server and of a group, and the mailboxes in each.
pub(super) fn judge(work: &mut Work<'_>) {
    let each = work.deployment.product.figures.databases_per_server.value;
    let copies = work.value(Key::ServerDbCopies(ServerKind::First));
    if copies <= 0.0 {
        let text = "a server holds less than half a copy, which the workbook rounds to none";
        let otherwise = "give mode = \"corrected\"";
        let key = Key::ServerDbCopies(ServerKind::First);
        let remedy = remedy::one_of(work, key, &[remedy::fewer_servers], otherwise);
        work.find(Violation, key, text.to_owned(), remedy);
    }
    if copies > each {
        let held = work.shown(Key::ServerDbCopies(ServerKind::First));
        let held = counted(&held, "database");
        let text = format!("a server holds {held} and may hold {}", three_digits(each));
        let found = [remedy::more_servers, remedy::larger_disks, remedy::more_groups];
        let otherwise = "allow larger databases (data.largest_database) and fewer copies";
        let key = Key::ServerDbCopies(ServerKind::First);
        let remedy = remedy::one_of(work, key, &found, otherwise);
        work.find(Violation, key, text, remedy);
    }
    given_count(work);
    overfull(work);
    if work.value(Key::DatabaseMailboxesCapacityLimited) < 1.0 {
        let text = "not even one mailbox fits into a database".to_owned();
        let otherwise = "allow larger databases (data.largest_database) and lower \
                         data.overhead_percent";
        let key = Key::DatabaseMailboxesCapacityLimited;
        let remedy = remedy::one_of(work, key, &[remedy::larger_disks], otherwise);
        work.find(Violation, key, text, remedy);
    }
}

/// Databases with more mailboxes than capacity or I/O allows.
fn overfull(work: &mut Work<'_>) {
    if has_room(&work.sheet) {
        return;
    }
    let found = [
        remedy::more_databases,
        remedy::larger_disks,
        remedy::faster_disks,
        remedy::fewer_on_a_volume,
        remedy::more_servers,
        remedy::more_groups,
    ];
    let otherwise = match limited_by(&work.sheet) {
        MailboxLimit::Capacity => {
            "take larger disks and smaller mailboxes, and add servers or groups"
        }
        MailboxLimit::Io => "take faster disks and RAID, and add servers or groups",
    };
    let remedy = remedy::one_of(work, Key::DatabaseMailboxes, &found, otherwise);
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

/// Whether the mailboxes of a database fit in it.
fn has_room(sheet: &Sheet) -> bool {
    let both = (sheet.number(Key::DatabaseMailboxes), sheet.number(Key::DatabaseMailboxesTarget));
    matches!(both, (Some(mailboxes), Some(target)) if mailboxes <= target)
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
    let found = [remedy::fewer_databases, remedy::more_servers, remedy::more_groups];
    let otherwise = "take fewer databases (data.databases) and fewer mailboxes";
    let remedy = remedy::one_of(work, Key::DatabaseMaxCountPerDag, &found, otherwise);
    work.find(Violation, Key::DatabaseMaxCountPerDag, text, remedy);
}
