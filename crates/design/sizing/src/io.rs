//! Reads and writes per second of groups, servers and databases (facts 5.2).

use crate::key::{Key, ServerKind, TierKey};
use crate::number::Number;
use crate::tier::{each, over_tiers};
use crate::work::Work;

/// I/O of one group, the basis of the database count; without copies, of one server.
pub(crate) fn per_group(work: &mut Work<'_>) {
    let deployment = work.deployment;
    for tier in each(work) {
        let mailboxes = work.get(Key::Tier(tier, TierKey::Mailboxes));
        let each = work.get(Key::Tier(tier, TierKey::Iops));
        let total = mailboxes * each / work.get(Key::ServerParts);
        work.put(Key::Tier(tier, TierKey::IopsTotalPerDag), total);
    }
    let all = over_tiers(work, TierKey::Iops) / work.get(Key::ServerParts);
    let overhead = work.sheet.share(Key::IoOverheadPercent, deployment.io.overhead);
    let more = deployment.io.additional_iops;
    let more = work.sheet.input(Key::IoAdditionalIops, more);
    let all = work.put(Key::IoDbIopsPerDag, (all + more) * (1.0 + overhead));
    let one = &all / work.get(Key::ServerMailboxesPerDag);
    work.put(Key::IoDbIopsPerMailbox, one);
    let mailboxes = over_tiers(work, TierKey::Iops);
    let reads = if mailboxes.value() > 0.0 {
        over_tiers(work, TierKey::IopsRead) / mailboxes
    } else {
        Number::plain(0.0)
    };
    work.put(Key::IoReadFraction, reads);
}

/// The same for a database and a server; a passive copy costs as much as an active one.
pub(crate) fn per_server(work: &mut Work<'_>) {
    let one = work.get(Key::IoDbIopsPerDag) / work.get(Key::DatabaseCount);
    let one = work.put(Key::IoDbIopsPerDb, one);
    let copies = work.get(Key::ServerDbCopies(ServerKind::First));
    let server = work.put(Key::IoDbIopsPerServer(ServerKind::First), &one * &copies);
    let share = work.get(Key::IoReadFraction);
    work.put(Key::IoDbReadsPerServer, &server * &share);
    let writes = work.put(Key::IoDbWritesPerServer, server * (1.0 - &share));
    let ratio = if work.deployment.has_copies() {
        figure!(work, log_writes_per_database_write)
    } else {
        figure!(work, log_writes_per_database_write_alone)
    };
    work.put(Key::IoLogWritesPerServer, writes * &ratio);
    let mut one_log = one * (1.0 - share) * ratio;
    let mut reads = Number::plain(0.0);
    if work.deployment.has_copies() {
        let read = figure!(work, log_reads_per_log_write);
        reads = &one_log * &read * work.get(Key::ServerWorstActiveDbs(ServerKind::First));
        one_log = one_log * (1.0 + read);
    }
    work.put(Key::IoLogReadsPerServer, reads);
    one_log = share_of_database(work, one_log);
    work.put(Key::IoLogIopsPerDb, &one_log);
    let group = one_log * work.get(Key::DatabaseCount);
    work.put(Key::IoLogIopsPerDag, group);
    let maintenance = figure!(work, maintenance_mb_per_second) * copies;
    work.put(Key::IoMaintenanceMbPerServer, maintenance);
}

/// Log I/O of a database as a separate share, if only that was ever published; otherwise derived
/// from its writes.
fn share_of_database(work: &mut Work<'_>, by_writes: Number) -> Number {
    let share = figure!(work, log_io_per_database_io);
    if share.value() > 0.0 { work.get(Key::IoDbIopsPerDb) * share } else { by_writes }
}
