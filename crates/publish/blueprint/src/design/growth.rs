//! How a database fills up: its size over the coming months, for users who keep all of their new
//! mail, four fifths of it, or three (facts 5.18).

use report::chart::{ChartLine, Ink, MonthsChart, Threshold};
use report::document::Picture;
use report::format::number;
use sizing::{Key, Sizing, TierKey};
use units::three_digits;

use super::Sized;

/// Shares of new mail that are kept, with their colours.
const KEPT: [(f64, Ink); 3] = [(1.0, Ink::Write), (0.8, Ink::Read), (0.6, Ink::Log)];

/// Longest period drawn, in months.
const LONGEST: f64 = 120.0;

/// Points of a curve.
const POINTS: u32 = 60;

const WEEKS_PER_MONTH: f64 = 52.0 / 12.0;

/// One tier's share of a database.
struct GrowthPart {
    /// Number of the tier's mailboxes in a database.
    mailboxes: f64,
    /// Size of a mailbox in MB, today and when full, without retained deleted items.
    now: f64,
    full: f64,
    /// Further MB per mailbox, present from day one.
    beside: f64,
    /// New MB in a week.
    weekly: f64,
}

impl GrowthPart {
    /// MB in a database after `months`.
    fn after(&self, months: f64, kept: f64) -> f64 {
        let grown = self.now + self.weekly * WEEKS_PER_MONTH * months * kept;
        self.mailboxes * (grown.min(self.full) + self.beside)
    }

    /// Months until a mailbox is full.
    fn months(&self, kept: f64) -> f64 {
        let each = self.weekly * WEEKS_PER_MONTH * kept;
        if each > 0.0 { (self.full - self.now).max(0.0) / each } else { 0.0 }
    }
}

/// The picture; `None` if no tier states the present size of its mailboxes.
pub(super) fn picture(sized: Sized<'_>) -> Option<Picture> {
    let parts = parts(sized)?;
    let slowest = KEPT[KEPT.len() - 1].0;
    let months = (months_until_full(&parts, slowest) * 1.05).clamp(1.0, LONGEST);
    let overhead = 1.0 + sized.deployment.data.overhead;
    let lines = KEPT.iter().map(|&(kept, ink)| {
        let points = (0..=POINTS).map(|at| {
            let month = months * f64::from(at) / f64::from(POINTS);
            let all: f64 = parts.iter().map(|part| part.after(month, kept)).sum();
            (month, all / 1024.0 * overhead)
        });
        ChartLine::new(label(kept, months_until_full(&parts, kept)), ink, points.collect())
    });
    let size = sized.sizing.number(Key::DatabaseSizeWithOverheadGb)?;
    let chart = MonthsChart {
        title: "GiB in a database by months from now".to_owned(),
        description: format!("It is sized for {} GiB.", three_digits(size)),
        unit: "GiB",
        lines: lines.collect(),
        limit: Threshold {
            value: size,
            label: "size that it is planned for".to_owned(),
            is_goal: false,
        },
    };
    let svg = chart.svg();
    let legend = chart.lines.iter().map(ChartLine::entry).collect();
    Some(Picture::wide(chart.title, svg, legend))
}

/// Months until the last tier is full, if a share `kept` of the new mail stays.
fn months_until_full(parts: &[GrowthPart], kept: f64) -> f64 {
    parts.iter().map(|part| part.months(kept)).fold(0.0, f64::max)
}

fn label(kept: f64, months: f64) -> String {
    let share = number(kept * 100.0, 0);
    if months > LONGEST {
        format!("{share} % of new mail is kept: full after more than ten years")
    } else {
        let months = number(months, 1);
        format!("{share} % of new mail is kept: the last tier is full after {months} months")
    }
}

/// Tiers without a present size are assumed to be full.
fn parts(sized: Sized<'_>) -> Option<Vec<GrowthPart>> {
    let sizing = sized.sizing;
    let share =
        sizing.number(Key::DatabaseMailboxes)? / sizing.number(Key::MailboxesTotal)?.max(1.0);
    let tiers = 1..=sized.deployment.tiers.len();
    let mut initial = tiers.clone().map(|tier| Key::Tier(tier, TierKey::InitialMb));
    if !initial.any(|key| sizing.number(key).is_some()) {
        return None;
    }
    tiers.map(|tier| part(sizing, tier, share)).collect()
}

/// One tier; a database holds the `share` of its mailboxes.
fn part(sizing: &Sizing, tier: usize, share: f64) -> Option<GrowthPart> {
    let full = sizing.number(Key::Tier(tier, TierKey::LimitMb))?;
    Some(GrowthPart {
        mailboxes: sizing.number(Key::Tier(tier, TierKey::Mailboxes))? * share,
        now: sizing.number(Key::Tier(tier, TierKey::InitialMb)).unwrap_or(full),
        full,
        beside: sizing.number(Key::Tier(tier, TierKey::MailboxOnDiskMb))? - full,
        weekly: sizing.number(Key::Tier(tier, TierKey::WeeklyMb))?,
    })
}
