//! How a database fills up: its content over the months to come, for users who keep all of their
//! new mail, four fifths of it, or three (facts 5.18).

use super::Sized;
use crate::chart::{ChartLine, Ink, MonthsChart, Threshold};
use crate::document::Picture;
use crate::format::{number, three_digits};
use sizing::{Key, TierKey};

/// Shares of new mail that stay, with their colours.
const KEPT: [(f64, Ink); 3] = [(1.0, Ink::Write), (0.8, Ink::Read), (0.6, Ink::Log)];

/// The longest that is drawn, in months.
const LONGEST: f64 = 120.0;

/// Points of a curve.
const POINTS: u32 = 60;

const WEEKS_PER_MONTH: f64 = 52.0 / 12.0;

/// What one tier adds to a database.
struct GrowthPart {
    /// Mailboxes of the tier in a database.
    mailboxes: f64,
    /// MB of a mailbox today and when it is full, without what is kept of deleted items.
    now: f64,
    full: f64,
    /// MB beside them, which are there from the first day.
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

/// The picture; none where no tier says how large its mailboxes are today.
pub(super) fn picture(sized: Sized<'_>) -> Option<Picture> {
    let parts = parts(sized)?;
    let last = |kept: f64| {
        let months = parts.iter().map(|part| part.months(kept));
        months.fold(0.0, f64::max)
    };
    let slowest = KEPT[KEPT.len() - 1].0;
    let months = (last(slowest) * 1.05).clamp(1.0, LONGEST);
    let overhead = 1.0 + sized.deployment.data.overhead;
    let curve = |&(kept, ink): &(f64, Ink)| {
        let point = |at: u32| {
            let month = months * f64::from(at) / f64::from(POINTS);
            let all: f64 = parts.iter().map(|part| part.after(month, kept)).sum();
            (month, all / 1024.0 * overhead)
        };
        ChartLine { label: label(kept, last(kept)), ink, points: (0..=POINTS).map(point).collect() }
    };
    let lines: Vec<ChartLine> = KEPT.iter().map(curve).collect();
    let size = sized.sizing.number(Key::DatabaseSizeWithOverheadGb)?;
    let legend = lines.iter().map(|line| (line.ink.class(), line.label.clone()));
    let legend = legend.collect();
    let chart = MonthsChart {
        title: "GB in a database by months from now".to_owned(),
        description: format!("It is sized for {} GB.", three_digits(size)),
        unit: "GB",
        lines,
        limit: Threshold {
            value: size,
            label: "size that it is planned for".to_owned(),
            is_goal: false,
        },
    };
    Some(Picture { title: chart.title.clone(), svg: chart.svg(), legend })
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

/// Tiers that do not say how large they are today are taken as full.
fn parts(sized: Sized<'_>) -> Option<Vec<GrowthPart>> {
    let value = |key| sized.sizing.number(key);
    let share = value(Key::DatabaseMailboxes)? / value(Key::MailboxesTotal)?.max(1.0);
    let tiers = 1..=sized.deployment.tiers.len();
    let known = tiers.clone().any(|tier| value(Key::Tier(tier, TierKey::InitialMb)).is_some());
    let part = |tier: usize| {
        let of = |what| value(Key::Tier(tier, what));
        let full = of(TierKey::LimitMb)?;
        Some(GrowthPart {
            mailboxes: of(TierKey::Mailboxes)? * share,
            now: of(TierKey::InitialMb).unwrap_or(full),
            full,
            beside: of(TierKey::MailboxOnDiskMb)? - full,
            weekly: of(TierKey::WeeklyMb)?,
        })
    };
    tiers.map(part).collect::<Option<Vec<_>>>().filter(|_| known)
}
