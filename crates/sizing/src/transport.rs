//! The queue database of a server, which fills a disk when it is overlooked (facts 5.13).

use crate::database::raw_gb;
use crate::failure::Failures;
use crate::quirk::Quirk;
use crate::sheet::WORKBOOK;
use crate::tier::{days, over_tiers};
use crate::work::Work;

/// The queue lies beside the system.
pub(crate) const ON_SYSTEM_DISK: &str = "System Disk";

/// The queue has a mirrored pair of disks to itself.
pub(crate) const ON_OWN_DISKS: &str = "Dedicated RAID-1 Disk";

/// Its size after the worst failure, and where it goes.
pub(crate) fn transport(work: &mut Work<'_>, failures: &Failures) {
    let deployment = work.deployment;
    servers_left(work, failures);
    let messages = over_tiers(work, "messages_per_day");
    let messages = work.put("transport.messages_per_day", "", messages);
    let each = messages / work.get("srv.remaining_after_worst_failure").max(1.0);
    let each = work.put("transport.messages_per_day_per_server", "", each);
    let queue = days(deployment.transport.queue_expiration);
    let queue = work
        .sheet
        .input("transport.queue_expiration_days", "days", queue);
    let net = days(deployment.transport.safety_net);
    let net = work.sheet.input("transport.safety_net_days", "days", net);
    let net = if deployment.availability.lagged_copies > 0 && deployment.has_copies() {
        net.max(work.get("availability.replay_lag_days"))
    } else {
        net
    };
    let kept = 1.0 + figure!(work, queued_share) * queue + net;
    let shadow = 2.0;
    let size = each * shadow * kept * work.get("mailboxes.average_message_kb");
    let size = work.put("transport.db_gb_per_server", "GB", size / 1_048_576.0);
    let disk = raw_gb(&deployment.storage.first.system);
    let disk = work.sheet.input("disk.system_raw_gb", "GB", disk) * 1e9 / 1_073_741_824.0;
    let needed = size + figure!(work, system_disk_reserve_gb);
    let fits = needed.value() < disk.value();
    let place = if fits { ON_SYSTEM_DISK } else { ON_OWN_DISKS };
    let because = "the system disk where there is room beside the reserve, else a mirrored pair";
    work.sheet
        .put_word("transport.location", WORKBOOK, place, because);
}

/// Servers of all groups that the worst failure leaves.
fn servers_left(work: &mut Work<'_>, failures: &Failures) {
    let key = "srv.remaining_after_worst_failure";
    if !work.deployment.has_copies() {
        let servers = work.get("srv.active_dc1");
        work.put(key, "", servers);
        return;
    }
    let late = work.sheet.find("srv.lagged_per_dag");
    let members = late.map_or_else(
        || work.get("srv.per_dag"),
        |late| work.get("srv.per_dag") + late,
    );
    let left = (members - failures.lost).max(0.0);
    let workbook = &left * work.get("availability.dags");
    let right = left * work.get("srv.dags");
    let left = work.either(Quirk::TransportServers, key, workbook, right);
    work.put(key, "", left);
}
