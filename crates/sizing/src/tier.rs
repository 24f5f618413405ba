//! One mailbox of each tier: space, I/O, processor, cache, log (facts 5.1 and 4.1), and its growth
//! (5.18).

use plan::deployment::Tier;
use units::{Bytes, Nanos};

use crate::number::{Number, sum};
use crate::quirk::Quirk;
use crate::sheet::OWN;
use crate::work::Work;

/// Mailboxes below this length in MB are searched too fast to matter, and each further MB costs
/// reads. Source: S-W76.
const SEARCHED_FROM_MB: f64 = 128.0;

/// MB of a mailbox whose search doubles the reads. Source: S-W76.
const SEARCH_DOUBLES_MB: f64 = 170.666_666;

/// A size in MB of 2^20 bytes.
pub(crate) fn mb(size: Bytes) -> f64 {
    size.as_mib_f64()
}

/// A span in days.
pub(crate) fn days(span: Nanos) -> f64 {
    span.0 as f64 / 86_400e9
}

/// All tiers, and what they have in common.
pub(crate) fn tiers(work: &mut Work<'_>) {
    let deployment = work.deployment;
    for (index, tier) in deployment.tiers.iter().enumerate() {
        let row = TierRow {
            name: format!("t{}", index + 1),
            tier,
        };
        row.inputs(work);
        row.space(work);
        row.growth(work);
        row.logs(work);
        row.load(work);
        row.io(work);
    }
    totals(work);
}

/// The sum of `what` of one mailbox over all mailboxes.
pub(crate) fn over_tiers(work: &Work<'_>, what: &str) -> Number {
    sum(each(work)
        .map(|name| work.get(&format!("{name}.mailboxes")) * work.get(&format!("{name}.{what}"))))
}

fn each<'w>(work: &'w Work<'_>) -> impl Iterator<Item = String> + 'w {
    (1..=work.deployment.tiers.len()).map(|number| format!("t{number}"))
}

fn totals(work: &mut Work<'_>) {
    let all = sum(each(work).map(|name| work.get(&format!("{name}.mailboxes"))));
    let all = work.put("mailboxes.total", "", all);
    for (key, unit, what) in [
        ("mailboxes.on_disk_mb", "MB", "mailbox_on_disk_mb"),
        ("mailboxes.mcycles_active", "megacycles", "mcycles_active"),
        ("mailboxes.mcycles_passive", "megacycles", "mcycles_passive"),
        (
            "mailboxes.mcycles_client_access",
            "megacycles",
            "mcycles_client_access",
        ),
        ("mailboxes.cache_mb", "MB", "cache_mb"),
        ("mailboxes.items", "thousands", "items"),
        ("mailboxes.average_message_kb", "KB", "average_message_kb"),
    ] {
        let mean = over_tiers(work, what) / &all;
        work.put(key, unit, mean);
    }
    let mean = work.get("mailboxes.on_disk_mb") / 1024.0;
    work.put("mailboxes.on_disk_gb", "GB", mean);
}

struct TierRow<'t> {
    name: String,
    tier: &'t Tier,
}

impl TierRow<'_> {
    fn key(&self, what: &str) -> String {
        format!("{}.{what}", self.name)
    }

    fn get(&self, work: &Work<'_>, what: &str) -> Number {
        work.get(&self.key(what))
    }

    fn put(&self, work: &mut Work<'_>, what: &str, unit: &'static str, number: Number) -> Number {
        work.put(&self.key(what), unit, number)
    }

    fn inputs(&self, work: &mut Work<'_>) {
        let tier = self.tier;
        let growth = work.sheet.share(&self.key("growth_percent"), tier.growth);
        let today = work
            .sheet
            .input(&self.key("mailboxes_today"), "", tier.mailboxes);
        self.put(work, "mailboxes", "", today * (1.0 + growth));
        for (what, unit, value) in [
            ("messages_per_day", "", tier.messages_per_day),
            (
                "average_message_kb",
                "KB",
                tier.average_message.0 as f64 / 1024.0,
            ),
            ("limit_mb", "MB", mb(tier.size_limit)),
            ("archive_limit_mb", "MB", mb(tier.archive_limit)),
            ("retention_days", "days", days(tier.deleted_item_retention)),
        ] {
            work.sheet.input(&self.key(what), unit, value);
        }
        if (tier.messages_per_day / 50.0).fract() != 0.0 || tier.messages_per_day > 500.0 {
            work.note(Quirk::ProfileSteps, &self.key("messages_per_day"), None);
        }
    }

    /// MB on the disk, whole: mailbox and archive with what is kept of deleted and changed items.
    fn space(&self, work: &mut Work<'_>) {
        let day = self.get(work, "messages_per_day") * self.get(work, "average_message_kb");
        let whitespace = self.put(work, "whitespace_mb", "MB", day / 1024.0);
        let limit = self.get(work, "limit_mb");
        let kept = self.kept(work, &limit) + &whitespace;
        let kept = self.put(work, "dumpster_plus_whitespace_mb", "MB", kept);
        let archive = self.get(work, "archive_limit_mb");
        let mut total = limit + kept;
        if archive.value() > 0.0 {
            let kept = self.kept(work, &archive) + &whitespace;
            let kept = self.put(work, "archive_dumpster_plus_whitespace_mb", "MB", kept);
            total = total + archive + kept;
        }
        let total = self.put(work, "mailbox_on_disk_mb", "MB", total.up());
        let items = total / self.get(work, "average_message_kb");
        self.put(work, "items", "thousands", items);
    }

    /// MB of recoverable items beside a mailbox of `limit`.
    fn kept(&self, work: &mut Work<'_>, limit: &Number) -> Number {
        let mut kept = self.get(work, "whitespace_mb") * self.get(work, "retention_days");
        if self.tier.single_item_recovery {
            kept = kept + figure!(work, single_item_recovery_share) * limit;
        }
        if self.tier.calendar_versions {
            kept = kept + figure!(work, calendar_versions_share) * limit;
        }
        kept.min(figure!(work, recoverable_items_limit_mb))
    }

    fn growth(&self, work: &mut Work<'_>) {
        let days = work.deployment.data.work_days;
        let days = work.sheet.input("data.work_days", "days", f64::from(days));
        let weekly = self.get(work, "whitespace_mb") * days;
        let weekly = self.put(work, "weekly_mb", "MB", weekly);
        let yearly = self.put(work, "yearly_gb", "GB", weekly * 52.0 / 1024.0);
        let Some(initial) = self.tier.initial_size else {
            return;
        };
        let initial = work.sheet.input(&self.key("initial_mb"), "MB", mb(initial));
        let on_disk = self.get(work, "mailbox_on_disk_mb") / 1024.0;
        let workbook = on_disk / (&yearly + &initial / 1024.0) * 12.0;
        let left = (self.get(work, "limit_mb") - initial) / 1024.0;
        let right = left / (yearly / 12.0);
        let key = self.key("months_to_limit");
        let months = work.either(Quirk::MonthsToLimit, &key, workbook, right);
        self.put(work, "months_to_limit", "months", months);
    }

    fn logs(&self, work: &mut Work<'_>) {
        let factor = self.get(work, "average_message_kb") / figure!(work, reference_message_kb);
        let factor = self.put(work, "log_size_factor", "", factor.round_to(0.1));
        let logs = figure!(work, logs_per_message) * self.get(work, "messages_per_day") * factor;
        self.put(work, "logs_per_day", "logs of 1 MB", logs);
    }

    /// Megacycles and cache.
    fn load(&self, work: &mut Work<'_>) {
        let multiplier =
            self.multiplier(work, "megacycle_multiplier", self.tier.megacycle_multiplier);
        let factor = self.put(work, "cpu_factor_effective", "", multiplier);
        let messages = self.get(work, "messages_per_day");
        let active = figure!(work, active_megacycles_per_message) * &messages * &factor;
        let active = self.put(work, "mcycles_active", "megacycles", active);
        let right = figure!(work, passive_megacycles_per_message) * &messages;
        let workbook = &right * factor;
        let key = self.key("mcycles_passive");
        let passive = work.either(Quirk::PassiveMultiplier, &key, workbook, right);
        self.put(work, "mcycles_passive", "megacycles", passive);
        let access = active * figure!(work, client_access_share);
        self.put(work, "mcycles_client_access", "megacycles", access);
        let cache = figure!(work, cache_mb_per_message) * messages;
        self.put(work, "cache_mb", "MB", cache);
    }

    /// What a multiplier amounts to where it counts for a part of the users.
    fn multiplier(&self, work: &mut Work<'_>, what: &str, multiplier: f64) -> Number {
        let users = self.tier.multiplier_users;
        let users = work
            .sheet
            .share(&self.key("multiplier_users_percent"), users);
        let multiplier = work.sheet.input(&self.key(what), "", multiplier);
        1.0 + (multiplier - 1.0) * users
    }

    fn io(&self, work: &mut Work<'_>) {
        let factor = self.multiplier(work, "iops_multiplier", self.tier.iops_multiplier);
        let factor = self.put(work, "io_factor_effective", "", factor);
        let search = self.search(work);
        if let Some(given) = self.tier.given_iops {
            let share = work
                .sheet
                .input(&self.key("read_write_share"), "", given.read_share);
            let share = self.put(work, "read_fraction", "", share);
            let iops = work.sheet.input(&self.key("iops_given"), "1/s", given.iops);
            let iops = self.put(work, "iops", "1/s", iops * factor);
            self.put(work, "iops_read", "1/s", iops * share);
            return;
        }
        let base = self.base(work);
        let share = self.read_share(work);
        let reads = &base * &share;
        let writes = &base * (1.0 - &share) * &factor;
        let key = self.key("iops");
        let read = if search.value() > 1.0 && factor.value() > 1.0 {
            let workbook = &reads * &factor + &reads * &search;
            let right = &reads * (factor + &search - 1.0);
            work.either(Quirk::DoubleReads, &key, workbook, right)
        } else {
            reads * factor * &search
        };
        let iops = self.put(work, "iops", "1/s", &read + writes);
        let right = read;
        let workbook = iops * share;
        let key = self.key("iops_read");
        let read = if search.value() > 1.0 {
            work.either(Quirk::SearchReadShare, &key, workbook, right)
        } else {
            workbook
        };
        self.put(work, "iops_read", "1/s", read);
    }

    /// I/O per second of a mailbox with nothing special about it.
    fn base(&self, work: &mut Work<'_>) -> Number {
        let per_message = if work.deployment.has_copies() {
            figure!(work, database_iops_per_message)
        } else {
            figure!(work, database_iops_per_message_alone)
        };
        let mut base = per_message * self.get(work, "messages_per_day");
        if figure!(work, iops_follow_message_size).value() > 0.0 {
            base = base * self.get(work, "average_message_kb") / 75.0;
        }
        self.put(work, "iops_base", "1/s", base)
    }

    fn read_share(&self, work: &mut Work<'_>) -> Number {
        let heavy = figure!(work, heavy_user_messages).value() < self.tier.messages_per_day;
        let share = match (work.deployment.has_copies(), heavy) {
            (true, false) => figure!(work, read_share),
            (true, true) => figure!(work, read_share_heavy),
            (false, false) => figure!(work, read_share_alone),
            (false, true) => figure!(work, read_share_heavy_alone),
        };
        self.put(work, "read_fraction", "", share)
    }

    /// How many times the reads a client without an index causes.
    fn search(&self, work: &mut Work<'_>) -> Number {
        let on_disk = self.get(work, "mailbox_on_disk_mb");
        let times = if self.tier.desktop_search && on_disk.value() >= SEARCHED_FROM_MB {
            (on_disk / SEARCH_DOUBLES_MB).round_to(0.5)
        } else {
            Number::plain(1.0)
        };
        self.put(work, "desktop_search_read_multiplier", "", times)
    }
}

/// Items of growth that only the report wants: the week in which a share of the limit is reached.
pub(crate) fn growth_curve(work: &mut Work<'_>) {
    let names: Vec<String> = each(work).collect();
    for name in names {
        let Some(initial) = work.sheet.find(&format!("{name}.initial_mb")) else {
            continue;
        };
        for share in [0.6, 0.8, 1.0] {
            let limit = work.get(&format!("{name}.limit_mb"));
            let left = (limit * share - &initial).max(0.0);
            let weeks = (left / work.get(&format!("{name}.weekly_mb"))).up();
            let key = format!("{name}.weeks_to_{:.0}_percent", share * 100.0);
            work.sheet.put(&key, "weeks", OWN, weeks);
        }
    }
}
