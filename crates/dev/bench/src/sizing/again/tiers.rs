//! One mailbox of each tier, and means over all of them (facts 4.1, 5.1, 5.2).

use plan::deployment::Tier;
use units::Nanos;

use super::given::GivenInputs;
use super::{Values, round, up};

/// Means over all mailboxes, and sums over a group.
#[derive(Clone, Copy, Default)]
pub(super) struct Tiers {
    pub mailboxes: f64,
    pub on_disk_mb: f64,
    pub active: f64,
    pub passive: f64,
    pub access: f64,
    pub cache_mb: f64,
    pub items: f64,
    pub message_kb: f64,
    /// Logs and messages per day of all mailboxes.
    pub logs: f64,
    pub messages: f64,
    /// I/O per second of a group, and the share of reads in it.
    pub iops: f64,
    pub reads: f64,
}

/// Figures of one mailbox of a tier, and the number of such mailboxes.
struct OneMailbox {
    count: f64,
    on_disk_mb: f64,
    active: f64,
    passive: f64,
    access: f64,
    cache_mb: f64,
    message_kb: f64,
    logs: f64,
    iops: f64,
    read_share: f64,
}

pub(super) fn days(span: Nanos) -> f64 {
    span.0 as f64 / 1e9 / 3_600.0 / 24.0
}

impl Tiers {
    pub(super) fn of(given: &GivenInputs<'_>, values: &mut Values) -> Self {
        let tiers = given.deployment.tiers.iter().enumerate();
        let all: Vec<OneMailbox> =
            tiers.map(|(at, tier)| mailbox(given, at + 1, tier, values)).collect();
        let count: f64 = all.iter().map(|of| of.count).sum();
        let iops = sum(&all, |of| of.iops);
        let io = given.deployment.io;
        let group = (iops / given.div + io.additional_iops) * (1.0 + io.overhead);
        let reads = sum(&all, |of| of.iops * of.read_share);
        let found = Self {
            mailboxes: count,
            on_disk_mb: sum(&all, |of| of.on_disk_mb) / count,
            active: sum(&all, |of| of.active) / count,
            passive: sum(&all, |of| of.passive) / count,
            access: sum(&all, |of| of.access) / count,
            cache_mb: sum(&all, |of| of.cache_mb) / count,
            items: sum(&all, |of| of.on_disk_mb / of.message_kb) / count,
            message_kb: sum(&all, |of| of.message_kb) / count,
            logs: sum(&all, |of| of.logs),
            messages: given
                .deployment
                .tiers
                .iter()
                .zip(&all)
                .map(|(tier, of)| of.count * tier.messages_per_day)
                .sum(),
            iops: group,
            reads: if iops > 0.0 { reads / iops } else { 0.0 },
        };
        values.put("io.db_iops_per_dag", group);
        values.put("io.read_fraction", found.reads);
        values.put("mailboxes.total", count);
        values.put("mailboxes.on_disk_mb", found.on_disk_mb);
        values.put("srv.mailboxes_per_dag", count / given.div);
        found
    }
}

/// Sum of `of` over all mailboxes.
fn sum(all: &[OneMailbox], of: impl Fn(&OneMailbox) -> f64) -> f64 {
    all.iter().map(|one| one.count * of(one)).sum()
}

fn mailbox(given: &GivenInputs<'_>, number: usize, tier: &Tier, values: &mut Values) -> OneMailbox {
    let m = tier.messages_per_day;
    let kb = tier.average_message.0 as f64 / 1024.0;
    let count = tier.mailboxes * (1.0 + tier.growth);
    let whitespace = m * kb / 1024.0;
    let limit = tier.size_limit.0 as f64 / 1_048_576.0;
    let archive = tier.archive_limit.0 as f64 / 1_048_576.0;
    let kept = dumpster(tier, whitespace, limit) + whitespace;
    let mut on_disk = limit + kept;
    if archive > 0.0 {
        on_disk += archive + dumpster(tier, whitespace, archive) + whitespace;
    }
    let on_disk = up(on_disk);
    let cycles = 1.0 + (tier.megacycle_multiplier - 1.0) * tier.multiplier_users;
    let is_2013 = given.deployment.product.name.ends_with("2013");
    let (active, passive, access) =
        if is_2013 { (0.0425, 0.0137, 0.375) } else { (0.0597, 0.0140, 0.0) };
    let active = active * m * cycles;
    let factor = round(kb / 78.947 * 10.0) / 10.0;
    let (iops, read_share) = load(given, tier, on_disk, number, values);
    let found = OneMailbox {
        count,
        on_disk_mb: on_disk,
        active,
        passive: passive * m * cycles,
        access: active * access,
        cache_mb: 0.06 * m,
        message_kb: kb,
        logs: 0.2 * m * factor,
        iops,
        read_share,
    };
    let put = [
        ("mailboxes", count),
        ("dumpster_plus_whitespace_mb", kept),
        ("mailbox_on_disk_mb", on_disk),
        ("cpu_factor_effective", cycles),
        ("mcycles_active", found.active),
        ("mcycles_passive", found.passive),
        ("mcycles_client_access", found.access),
        ("cache_mb", found.cache_mb),
        ("logs_per_day", found.logs),
        ("iops", iops),
        ("read_fraction", read_share),
        ("iops_total_per_dag", count * iops / given.div),
    ];
    for (name, value) in put {
        values.put(format!("t{number}.{name}"), value);
    }
    growth(given, number, tier, (whitespace, on_disk), values);
    found
}

/// MB of deleted and changed items in a mailbox or archive of `limit` MB.
fn dumpster(tier: &Tier, whitespace: f64, limit: f64) -> f64 {
    let mut kept = whitespace * days(tier.deleted_item_retention);
    if tier.single_item_recovery {
        kept += 0.012 * limit;
    }
    if tier.calendar_versions {
        kept += 0.03 * limit;
    }
    kept.min(30_720.0)
}

/// I/O of a mailbox, and the share of reads in it before search multiplies them.
fn load(
    given: &GivenInputs<'_>,
    tier: &Tier,
    on_disk: f64,
    number: usize,
    values: &mut Values,
) -> (f64, f64) {
    let factor = 1.0 + (tier.iops_multiplier - 1.0) * tier.multiplier_users;
    values.put(format!("t{number}.io_factor_effective"), factor);
    if let Some(measured) = tier.given_iops {
        return (measured.iops * factor, measured.read_share);
    }
    let heavy = tier.messages_per_day > 250.0;
    let share = match (given.copies, heavy) {
        (true, false) => 0.6,
        (true, true) | (false, false) => 0.5,
        (false, true) => 0.4,
    };
    let base = 0.000_67 * tier.messages_per_day;
    values.put(format!("t{number}.iops_base"), base);
    let searched = tier.desktop_search && on_disk >= 128.0;
    let search = if searched { round(on_disk / 170.666_666 * 2.0) / 2.0 } else { 1.0 };
    // If both the factor and search apply, they are added instead of multiplied.
    let times = if search > 1.0 && factor > 1.0 { factor + search } else { factor * search };
    (base * share * times + base * (1.0 - share) * factor, share)
}

/// Growth rate of a mailbox, and the time at which the workbook counts it as full.
fn growth(
    given: &GivenInputs<'_>,
    number: usize,
    tier: &Tier,
    (whitespace, on_disk): (f64, f64),
    values: &mut Values,
) {
    let weekly = whitespace * f64::from(given.deployment.data.work_days);
    let yearly = weekly * 52.0 / 1024.0;
    values.put(format!("t{number}.weekly_mb"), weekly);
    values.put(format!("t{number}.yearly_gb"), yearly);
    if let Some(initial) = tier.initial_size {
        let initial = initial.0 as f64 / 1024.0 / 1_048_576.0;
        let months = on_disk / 1024.0 / (yearly + initial) * 12.0;
        values.put(format!("t{number}.months_to_limit"), months);
    }
}
