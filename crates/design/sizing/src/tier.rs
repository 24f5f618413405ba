//! One mailbox of each tier: space, I/O, processor, cache, log (facts 5.1 and 4.1), and its growth
//! (5.18).

use std::ops::RangeInclusive;

use plan::deployment::Tier;
use units::{Bytes, Nanos};

use crate::key::{Key, TierKey};
use crate::number::{Number, sum};
use crate::quirk::Quirk;
use crate::work::Work;

/// Mailboxes smaller than this, in MB, are searched too fast to matter; each further MB costs
/// reads. Source: S-W76.
const SEARCHED_FROM_MB: f64 = 128.0;

/// Mailbox size in MB at which searching doubles the reads. Source: S-W76.
const SEARCH_DOUBLES_MB: f64 = 170.666_666;

/// A size in MB of 2^20 bytes.
pub(crate) fn mb(size: Bytes) -> f64 {
    size.as_mib_f64()
}

/// A span in days.
pub(crate) fn days(span: Nanos) -> f64 {
    span.0 as f64 / 86_400e9
}

/// All tiers, and their shared inputs.
pub(crate) fn tiers(work: &mut Work<'_>) {
    let deployment = work.deployment;
    for (index, tier) in deployment.tiers.iter().enumerate() {
        let row = TierRow { number: index + 1, tier };
        row.inputs(work);
        row.space(work);
        row.growth(work);
        row.logs(work);
        row.load(work);
        row.io(work);
    }
    totals(work);
}

/// Sum over all mailboxes of the per-mailbox value `what`.
pub(crate) fn over_tiers(work: &Work<'_>, what: TierKey) -> Number {
    sum(each(work).map(|tier| {
        work.get(Key::Tier(tier, TierKey::Mailboxes)) * work.get(Key::Tier(tier, what))
    }))
}

/// The numbers of the tiers.
pub(crate) fn each(work: &Work<'_>) -> RangeInclusive<usize> {
    1..=work.deployment.tiers.len()
}

fn totals(work: &mut Work<'_>) {
    let all = sum(each(work).map(|tier| work.get(Key::Tier(tier, TierKey::Mailboxes))));
    let all = work.put(Key::MailboxesTotal, all);
    for (key, what) in [
        (Key::MailboxesOnDiskMb, TierKey::MailboxOnDiskMb),
        (Key::MailboxesMcyclesActive, TierKey::McyclesActive),
        (Key::MailboxesMcyclesPassive, TierKey::McyclesPassive),
        (Key::MailboxesMcyclesClientAccess, TierKey::McyclesClientAccess),
        (Key::MailboxesCacheMb, TierKey::CacheMb),
        (Key::MailboxesItems, TierKey::Items),
        (Key::MailboxesAverageMessageKb, TierKey::AverageMessageKb),
    ] {
        let mean = over_tiers(work, what) / &all;
        work.put(key, mean);
    }
    let mean = work.get(Key::MailboxesOnDiskMb) / 1024.0;
    work.put(Key::MailboxesOnDiskGb, mean);
}

struct TierRow<'t> {
    number: usize,
    tier: &'t Tier,
}

impl TierRow<'_> {
    const fn key(&self, what: TierKey) -> Key {
        Key::Tier(self.number, what)
    }

    fn get(&self, work: &Work<'_>, what: TierKey) -> Number {
        work.get(self.key(what))
    }

    fn put(&self, work: &mut Work<'_>, what: TierKey, number: Number) -> Number {
        work.put(self.key(what), number)
    }

    fn inputs(&self, work: &mut Work<'_>) {
        let tier = self.tier;
        let growth = work.sheet.share(self.key(TierKey::GrowthPercent), tier.growth);
        let today = work.sheet.input(self.key(TierKey::MailboxesToday), tier.mailboxes);
        self.put(work, TierKey::Mailboxes, today * (1.0 + growth));
        for (what, value) in [
            (TierKey::MessagesPerDay, tier.messages_per_day),
            (TierKey::AverageMessageKb, tier.average_message.0 as f64 / 1024.0),
            (TierKey::LimitMb, mb(tier.size_limit)),
            (TierKey::ArchiveLimitMb, mb(tier.archive_limit)),
            (TierKey::RetentionDays, days(tier.deleted_item_retention)),
        ] {
            work.sheet.input(self.key(what), value);
        }
        if (tier.messages_per_day / 50.0).fract() != 0.0 || tier.messages_per_day > 500.0 {
            work.note(Quirk::ProfileSteps, self.key(TierKey::MessagesPerDay), None);
        }
    }

    /// MB on the disk, whole: mailbox and archive with their retained deleted and changed items.
    fn space(&self, work: &mut Work<'_>) {
        let day =
            self.get(work, TierKey::MessagesPerDay) * self.get(work, TierKey::AverageMessageKb);
        let whitespace = self.put(work, TierKey::WhitespaceMb, day / 1024.0);
        let limit = self.get(work, TierKey::LimitMb);
        let kept = self.kept(work, &limit) + &whitespace;
        let kept = self.put(work, TierKey::DumpsterPlusWhitespaceMb, kept);
        let archive = self.get(work, TierKey::ArchiveLimitMb);
        let mut total = limit + kept;
        if archive.value() > 0.0 {
            let kept = self.kept(work, &archive) + &whitespace;
            let kept = self.put(work, TierKey::ArchiveDumpsterPlusWhitespaceMb, kept);
            total = total + archive + kept;
        }
        let total = self.put(work, TierKey::MailboxOnDiskMb, total.up());
        let items = total / self.get(work, TierKey::AverageMessageKb);
        self.put(work, TierKey::Items, items);
    }

    /// MB of recoverable items next to a mailbox of `limit`.
    fn kept(&self, work: &mut Work<'_>, limit: &Number) -> Number {
        let mut kept =
            self.get(work, TierKey::WhitespaceMb) * self.get(work, TierKey::RetentionDays);
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
        let days = work.sheet.input(Key::DataWorkDays, f64::from(days));
        let weekly = self.get(work, TierKey::WhitespaceMb) * days;
        let weekly = self.put(work, TierKey::WeeklyMb, weekly);
        let yearly = self.put(work, TierKey::YearlyGb, weekly * 52.0 / 1024.0);
        let Some(initial) = self.tier.initial_size else {
            return;
        };
        let initial = work.sheet.input(self.key(TierKey::InitialMb), mb(initial));
        let on_disk = self.get(work, TierKey::MailboxOnDiskMb) / 1024.0;
        let workbook = on_disk / (&yearly + &initial / 1024.0) * 12.0;
        let left = (self.get(work, TierKey::LimitMb) - initial) / 1024.0;
        let right = left / (yearly / 12.0);
        let key = self.key(TierKey::MonthsToLimit);
        let months = work.either(Quirk::MonthsToLimit, key, workbook, right);
        self.put(work, TierKey::MonthsToLimit, months);
    }

    fn logs(&self, work: &mut Work<'_>) {
        let factor =
            self.get(work, TierKey::AverageMessageKb) / figure!(work, reference_message_kb);
        let factor = self.put(work, TierKey::LogSizeFactor, factor.round_to(0.1));
        let logs =
            figure!(work, logs_per_message) * self.get(work, TierKey::MessagesPerDay) * factor;
        self.put(work, TierKey::LogsPerDay, logs);
    }

    /// Megacycles and cache.
    fn load(&self, work: &mut Work<'_>) {
        let multiplier =
            self.multiplier(work, TierKey::MegacycleMultiplier, self.tier.megacycle_multiplier);
        let factor = self.put(work, TierKey::CpuFactorEffective, multiplier);
        let messages = self.get(work, TierKey::MessagesPerDay);
        let active = figure!(work, active_megacycles_per_message) * &messages * &factor;
        let active = self.put(work, TierKey::McyclesActive, active);
        let right = figure!(work, passive_megacycles_per_message) * &messages;
        let workbook = &right * factor;
        let key = self.key(TierKey::McyclesPassive);
        let passive = work.either(Quirk::PassiveMultiplier, key, workbook, right);
        self.put(work, TierKey::McyclesPassive, passive);
        let access = active * figure!(work, client_access_share);
        self.put(work, TierKey::McyclesClientAccess, access);
        let cache = figure!(work, cache_mb_per_message) * messages;
        self.put(work, TierKey::CacheMb, cache);
    }

    /// Effective value of a multiplier that applies to only part of the users.
    fn multiplier(&self, work: &mut Work<'_>, what: TierKey, multiplier: f64) -> Number {
        let users = self.tier.multiplier_users;
        let users = work.sheet.share(self.key(TierKey::MultiplierUsersPercent), users);
        let multiplier = work.sheet.input(self.key(what), multiplier);
        1.0 + (multiplier - 1.0) * users
    }

    fn io(&self, work: &mut Work<'_>) {
        let factor = self.multiplier(work, TierKey::IopsMultiplier, self.tier.iops_multiplier);
        let factor = self.put(work, TierKey::IoFactorEffective, factor);
        let search = self.search(work);
        if let Some(given) = self.tier.given_iops {
            let share = work.sheet.input(self.key(TierKey::ReadWriteShare), given.read_share);
            let share = self.put(work, TierKey::ReadFraction, share);
            let iops = work.sheet.input(self.key(TierKey::IopsGiven), given.iops);
            let iops = self.put(work, TierKey::Iops, iops * factor);
            self.put(work, TierKey::IopsRead, iops * share);
            return;
        }
        let base = self.base(work);
        let share = self.read_share(work);
        let reads = &base * &share;
        let writes = &base * (1.0 - &share) * &factor;
        let key = self.key(TierKey::Iops);
        let read = if search.value() > 1.0 && factor.value() > 1.0 {
            let workbook = &reads * &factor + &reads * &search;
            let right = &reads * (factor + &search - 1.0);
            work.either(Quirk::DoubleReads, key, workbook, right)
        } else {
            reads * factor * &search
        };
        let iops = self.put(work, TierKey::Iops, &read + writes);
        let right = read;
        let workbook = iops * share;
        let key = self.key(TierKey::IopsRead);
        let read = if search.value() > 1.0 {
            work.either(Quirk::SearchReadShare, key, workbook, right)
        } else {
            workbook
        };
        self.put(work, TierKey::IopsRead, read);
    }

    /// I/O per second of an ordinary mailbox.
    fn base(&self, work: &mut Work<'_>) -> Number {
        let per_message = if work.deployment.has_copies() {
            figure!(work, database_iops_per_message)
        } else {
            figure!(work, database_iops_per_message_alone)
        };
        let mut base = per_message * self.get(work, TierKey::MessagesPerDay);
        if figure!(work, iops_follow_message_size).value() > 0.0 {
            base = base * self.get(work, TierKey::AverageMessageKb) / 75.0;
        }
        self.put(work, TierKey::IopsBase, base)
    }

    fn read_share(&self, work: &mut Work<'_>) -> Number {
        let heavy = figure!(work, heavy_user_messages).value() < self.tier.messages_per_day;
        let share = match (work.deployment.has_copies(), heavy) {
            (true, false) => figure!(work, read_share),
            (true, true) => figure!(work, read_share_heavy),
            (false, false) => figure!(work, read_share_alone),
            (false, true) => figure!(work, read_share_heavy_alone),
        };
        self.put(work, TierKey::ReadFraction, share)
    }

    /// Factor by which a client without an index multiplies the reads.
    fn search(&self, work: &mut Work<'_>) -> Number {
        let on_disk = self.get(work, TierKey::MailboxOnDiskMb);
        let times = if self.tier.desktop_search && on_disk.value() >= SEARCHED_FROM_MB {
            (on_disk / SEARCH_DOUBLES_MB).round_to(0.5)
        } else {
            Number::plain(1.0)
        };
        self.put(work, TierKey::DesktopSearchReadMultiplier, times)
    }
}

/// Growth figures used only by the report: the week in which a share of the limit is reached.
pub(crate) fn growth_curve(work: &mut Work<'_>) {
    for tier in each(work) {
        let Some(initial) = work.sheet.find(Key::Tier(tier, TierKey::InitialMb)) else {
            continue;
        };
        for (share, key) in [
            (0.6, TierKey::WeeksTo60Percent),
            (0.8, TierKey::WeeksTo80Percent),
            (1.0, TierKey::WeeksTo100Percent),
        ] {
            let limit = work.get(Key::Tier(tier, TierKey::LimitMb));
            let left = (limit * share - &initial).max(0.0);
            let weeks = (left / work.get(Key::Tier(tier, TierKey::WeeklyMb))).up();
            work.put(Key::Tier(tier, key), weeks);
        }
    }
}
