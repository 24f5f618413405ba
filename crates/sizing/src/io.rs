//! Reads and writes per second of groups, servers and databases (facts 5.2).

use crate::number::Number;
use crate::tier::over_tiers;
use crate::work::Work;

/// I/O of one group, which the database count starts from; without copies, of one server.
pub(crate) fn per_group(work: &mut Work<'_>) {
    let deployment = work.deployment;
    for number in 1..=deployment.tiers.len() {
        let name = |what: &str| format!("t{number}.{what}");
        let total = work.get(&name("mailboxes")) * work.get(&name("iops")) / work.get("srv.parts");
        work.put(&name("iops_total_per_dag"), "1/s", total);
    }
    let all = over_tiers(work, "iops") / work.get("srv.parts");
    let overhead = work
        .sheet
        .share("io.overhead_percent", deployment.io.overhead);
    let more = deployment.io.additional_iops;
    let more = work.sheet.input("io.additional_iops", "1/s", more);
    let all = work.put("io.db_iops_per_dag", "1/s", (all + more) * (1.0 + overhead));
    let one = &all / work.get("srv.mailboxes_per_dag");
    work.put("io.db_iops_per_mailbox", "1/s", one);
    let mailboxes = over_tiers(work, "iops");
    let reads = if mailboxes.value() > 0.0 {
        over_tiers(work, "iops_read") / mailboxes
    } else {
        Number::plain(0.0)
    };
    work.put("io.read_fraction", "", reads);
}

/// The same for a database and a server; a passive copy costs as much as an active one.
pub(crate) fn per_server(work: &mut Work<'_>) {
    let one = work.get("io.db_iops_per_dag") / work.get("db.count");
    let one = work.put("io.db_iops_per_db", "1/s", one);
    let copies = work.get("srv.db_copies");
    let server = work.put("io.db_iops_per_server", "1/s", &one * &copies);
    let share = work.get("io.read_fraction");
    work.put("io.db_reads_per_server", "1/s", &server * &share);
    let writes = work.put("io.db_writes_per_server", "1/s", server * (1.0 - &share));
    let ratio = if work.deployment.has_copies() {
        figure!(work, log_writes_per_database_write)
    } else {
        figure!(work, log_writes_per_database_write_alone)
    };
    work.put("io.log_writes_per_server", "1/s", writes * &ratio);
    let mut one_log = one * (1.0 - share) * ratio;
    let mut reads = Number::plain(0.0);
    if work.deployment.has_copies() {
        let read = figure!(work, log_reads_per_log_write);
        reads = &one_log * &read * work.get("srv.worst_active_dbs_dc1");
        one_log = one_log * (1.0 + read);
    }
    work.put("io.log_reads_per_server", "1/s", reads);
    one_log = share_of_database(work, one_log);
    work.put("io.log_iops_per_db", "1/s", &one_log);
    let group = one_log * work.get("db.count");
    work.put("io.log_iops_per_dag", "1/s", group);
    let maintenance = figure!(work, maintenance_mb_per_second) * copies;
    work.put("io.maintenance_mb_per_server", "MB/s", maintenance);
}

/// Log I/O of a database as a share of its own, where that is all that was ever published; else
/// what follows from its writes.
fn share_of_database(work: &mut Work<'_>, by_writes: Number) -> Number {
    let share = figure!(work, log_io_per_database_io);
    if share.value() > 0.0 {
        work.get("io.db_iops_per_db") * share
    } else {
        by_writes
    }
}
