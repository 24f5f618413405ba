//! The queue database of a server, which can fill a disk if it is overlooked (facts 5.13).

use crate::database::raw_gb;
use crate::decision::{Decision, QueuePlace};
use crate::failure::Failures;
use crate::key::{Key, TierKey};
use crate::quirk::Quirk;
use crate::tier::{days, over_tiers};
use crate::work::Work;

/// Its size after the worst failure, and where it goes.
pub(crate) fn transport(work: &mut Work<'_>, failures: &Failures) {
    let deployment = work.deployment;
    servers_left(work, failures);
    let messages = over_tiers(work, TierKey::MessagesPerDay);
    let messages = work.put(Key::TransportMessagesPerDay, messages);
    let each = messages / work.get(Key::ServerRemainingAfterWorstFailure).max(1.0);
    let each = work.put(Key::TransportMessagesPerDayPerServer, each);
    let queue = days(deployment.transport.queue_expiration);
    let queue = work.sheet.input(Key::TransportQueueExpirationDays, queue);
    let net = days(deployment.transport.safety_net);
    let net = work.sheet.input(Key::TransportSafetyNetDays, net);
    let net = if deployment.availability.lagged_copies > 0 && deployment.has_copies() {
        net.max(work.get(Key::AvailabilityReplayLagDays))
    } else {
        net
    };
    let kept = 1.0 + figure!(work, queued_share) * queue + net;
    let shadow = 2.0;
    let size = each * shadow * kept * work.get(Key::MailboxesAverageMessageKb);
    let size = work.put(Key::TransportDbGbPerServer, size / 1_048_576.0);
    let disk = raw_gb(&deployment.storage.first.system);
    let disk = work.sheet.input(Key::DiskSystemRawGb, disk) * 1e9 / 1_073_741_824.0;
    let needed = size + figure!(work, system_disk_reserve_gb);
    let needed = work.put(Key::DiskSystemNeededGb, needed);
    let least = (&needed * (1_073_741_824.0 / 1e9)).up();
    work.put(Key::DiskSystemLeastGb, least);
    let fits = needed.value() < disk.value();
    let place = if fits { QueuePlace::SystemDisk } else { QueuePlace::OwnDisks };
    let because = "the system disk where there is room beside the reserve, else a mirrored pair";
    work.sheet.decide(Key::TransportLocation, Decision::Queue(place), because);
}

/// Servers of all groups that survive the worst failure.
fn servers_left(work: &mut Work<'_>, failures: &Failures) {
    let key = Key::ServerRemainingAfterWorstFailure;
    if !work.deployment.has_copies() {
        let servers = work.get(Key::ServerActiveDc1);
        work.put(key, servers);
        return;
    }
    let late = work.sheet.find(Key::ServerLaggedPerDag);
    let members =
        late.map_or_else(|| work.get(Key::ServerPerDag), |late| work.get(Key::ServerPerDag) + late);
    let left = (members - failures.lost).max(0.0);
    let workbook = &left * work.get(Key::AvailabilityDags);
    let right = left * work.get(Key::ServerDags);
    let left = work.either(Quirk::TransportServers, key, workbook, right);
    work.put(key, left);
}
