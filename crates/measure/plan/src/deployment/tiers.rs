//! The sections `[[tier]]`.

use units::{Bytes, Nanos};

use super::model::{GivenIops, Tier};
use super::words::ReadShare;
use crate::keys::Keys;

/// A day, the unit of retention.
pub(super) const DAY: Nanos = Nanos::from_secs(24 * 3600);

/// Upper bound on the mailboxes of a deployment; it bounds all arithmetic.
const MOST_MAILBOXES: f64 = 10_000_000.0;

/// Largest mailbox: beyond every product's limit; it bounds all arithmetic.
const LARGEST_MAILBOX: Bytes = Bytes::from_gib(10_240);

pub(super) fn tiers(root: &mut Keys<'_, '_>) -> Vec<Tier> {
    let before = root.complaints();
    let tiers = root.each("tier", tier);
    let all_read = root.complaints() == before;
    if tiers.is_empty() {
        let example = "a section [[tier]] with `mailboxes = 1000`, `messages_per_day = 100` and \
                       `size_limit = \"2GiB\"`";
        root.missing("tier", example);
    } else if all_read && tiers.iter().all(|tier| tier.mailboxes <= 0.0) {
        root.conflict("tier", "no tier has a mailbox; give `mailboxes`");
    }
    tiers
}

fn tier(mut keys: Keys<'_, '_>, index: usize) -> Tier {
    let mailboxes = keys.needed("mailboxes", (0.0, MOST_MAILBOXES), "`mailboxes = 1000` to it");
    let messages = keys.needed(
        "messages_per_day",
        (1.0, 10_000.0),
        "`messages_per_day = 100`, sent and received, to it",
    );
    let size_limit = size_limit(&mut keys);
    let mailbox_sizes = (Bytes(0), LARGEST_MAILBOX);
    let tier = Tier {
        name: keys.text("name", &format!("tier {}", index + 1)),
        mailboxes,
        growth: keys.share("growth_percent", 0.0, (0.0, 10_000.0)),
        messages_per_day: messages,
        average_message: keys.size(
            "average_message",
            Bytes::from_kib(75),
            (Bytes::from_kib(1), Bytes::from_gib(1)),
        ),
        initial_size: keys.given("initial_size", (Bytes(0), size_limit)),
        size_limit,
        archive_limit: keys.size("archive_limit", Bytes(0), mailbox_sizes),
        deleted_item_retention: keys.span(
            "deleted_item_retention",
            Nanos(DAY.0 * 14),
            (Nanos::ZERO, Nanos(DAY.0 * 3650)),
        ),
        single_item_recovery: keys.flag("single_item_recovery", true),
        calendar_versions: keys.flag("calendar_versions", true),
        multiplier_users: keys.share("multiplier_users_percent", 100.0, (0.0, 100.0)),
        iops_multiplier: keys.number("iops_multiplier", 1.0, (1.0, 100.0)),
        megacycle_multiplier: keys.number("megacycle_multiplier", 1.0, (1.0, 100.0)),
        desktop_search: keys.flag("desktop_search", false),
        given_iops: given_iops(&mut keys),
    };
    keys.finish();
    tier
}

fn size_limit(keys: &mut Keys<'_, '_>) -> Bytes {
    let bounds = (Bytes::from_mib(1), LARGEST_MAILBOX);
    let given = keys.given("size_limit", bounds);
    if given.is_none() {
        keys.missing("size_limit", "`size_limit = \"2GiB\"`, of each mailbox, to it");
    }
    given.unwrap_or(bounds.0)
}

fn given_iops(keys: &mut Keys<'_, '_>) -> Option<GivenIops> {
    let ratio: Option<ReadShare> = keys.choice("read_write_ratio");
    let iops = keys.given("iops", (0.0, 1000.0));
    if iops.is_none() && ratio.is_some() {
        let message = "goes with `iops`; without it both are predicted, so remove one";
        keys.conflict("read_write_ratio", message);
    }
    Some(GivenIops { iops: iops?, read_share: ratio.map_or(0.6, |share| share.0) })
}
