//! What a load comes to in mailboxes. Fast disks do the requests of more mailboxes than they have
//! room for, so the one bound never stands without the other.

use record::RunRecord;
use units::Bytes;
use verdict::MailboxRoom;

use crate::format;

/// IOPS of a mailbox where the plan names none: 150 messages a day in Exchange 2013 and later
/// (0.101 in Microsoft's mailbox profile table).
const USUAL_IOPS_EACH: f64 = 0.1;

/// Size of a mailbox that room is counted in where the plan names none: where Exchange 2013 and
/// later prohibit sending by default, 2 GB.
const USUAL_SIZE: Bytes = Bytes(2 << 30);

/// How many mailboxes a run stands for, by each bound, rounded down to two digits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    /// By the requests that were served.
    pub by_io: f64,
    /// By the size of the volumes of the databases; none where the record has no sizes.
    pub by_space: Option<f64>,
    volumes_bytes: u64,
    size_each: Bytes,
    /// Mailboxes that the plan asks for.
    wanted: Option<u64>,
    /// What the plan asks to be kept, if it states the size of a mailbox.
    room: Option<MailboxRoom>,
    achieved_iops: f64,
    /// Transactional IOPS of one mailbox.
    pub iops_each: f64,
}

impl Carried {
    /// What `run` achieved.
    pub(crate) fn of(run: &RunRecord) -> Self {
        Self::at(run, run.achieved_transactional_iops())
    }

    /// What the storage of `run` stands for at another load.
    pub(crate) fn at(run: &RunRecord, achieved_iops: f64) -> Self {
        let stated = run.start.settings.iops_per_mailbox;
        let iops_each = stated.filter(|&iops| iops > 0.0).unwrap_or(USUAL_IOPS_EACH);
        let volumes_bytes = verdict::volumes_bytes(run);
        let size_each = run.start.settings.mailbox_bytes.map_or(USUAL_SIZE, Bytes);
        let by_space = volumes_bytes as f64 / size_each.0.max(1) as f64;
        Self {
            by_io: two_digits(achieved_iops / iops_each),
            by_space: (volumes_bytes > 0).then(|| two_digits(by_space)),
            volumes_bytes,
            size_each,
            wanted: run.start.settings.mailboxes,
            room: MailboxRoom::of(run),
            achieved_iops,
            iops_each,
        }
    }

    /// The lower of both bounds: no more mailboxes are carried than have room.
    pub(crate) fn least(&self) -> f64 {
        self.by_space.map_or(self.by_io, |by_space| by_space.min(self.by_io))
    }

    /// What the mailboxes of the plan ask for; none where it names no number of them.
    pub(crate) fn required_iops(&self) -> Option<f64> {
        Some(self.wanted? as f64 * self.iops_each)
    }

    /// Which bound the number is, and the other one.
    pub(crate) fn remark(&self) -> String {
        let each = format::number(self.iops_each, 2);
        let by_io = format::number(self.by_io, 0);
        match self.by_space {
            None => {
                format!("of {each} IOPS each, without reserve; whether their mail fits is unknown")
            }
            Some(by_space) if by_space < self.by_io => format!(
                "by space, of {} each; by I/O {by_io} of {each} IOPS, without reserve",
                format::size(self.size_each.0)
            ),
            Some(by_space) => format!(
                "by I/O, of {each} IOPS each, without reserve; by space {} of {}",
                format::number(by_space, 0),
                format::size(self.size_each.0)
            ),
        }
    }

    /// Both bounds of the mailboxes, and which of them is the limit.
    pub(crate) fn bounds(&self) -> String {
        let by_io = format::number(self.by_io, 0);
        let each = format::number(self.iops_each, 2);
        let Some(by_space) = self.by_space else {
            return format!(
                "Mailboxes of {each} IOPS: {by_io}; whether their mail fits is unknown."
            );
        };
        let limit = if by_space < self.by_io { "space" } else { "I/O" };
        format!(
            "Mailboxes: {by_io} of {each} IOPS by I/O, {} of {} by space; {limit} is the limit.",
            format::number(by_space, 0),
            format::size(self.size_each.0)
        )
    }

    /// What the plan asks for beside what was achieved, or how many mailboxes it stands for.
    pub(crate) fn sentence(&self) -> String {
        let each = format::number(self.iops_each, 2);
        let asked = match self.wanted {
            Some(wanted) => format!(
                "Required for {} mailboxes of {each} IOPS: {} IOPS; achieved {}{}",
                format::whole(wanted),
                format::three_digits(wanted as f64 * self.iops_each),
                format::three_digits(self.achieved_iops),
                margin(self.achieved_iops, wanted as f64 * self.iops_each)
            ),
            None => format!(
                "In mailboxes: I/O for about {} of {each} IOPS",
                format::number(self.by_io, 0)
            ),
        };
        let Some(by_space) = self.by_space else {
            return format!("{asked}; whether their mail fits is unknown.");
        };
        // A load that is held says nothing of what more the disk would do.
        let (fitting, bound) = match (self.room, self.wanted) {
            (Some(room), _) => (format::whole(room.fitting()), bound(room)),
            (None, Some(_)) => (about(by_space), "; the plan states no size"),
            (None, None) if by_space < self.by_io => (about(by_space), ": space is the limit"),
            (None, None) => (about(by_space), ": I/O is the limit"),
        };
        format!(
            "{asked}; space for {fitting} of {} on {}{bound}.",
            format::size(self.size_each.0),
            format::size(self.volumes_bytes)
        )
    }
}

fn about(mailboxes: f64) -> String {
    format!("about {}", format::number(mailboxes, 0))
}

const fn bound(room: MailboxRoom) -> &'static str {
    if room.fitting() < room.wanted { ": not enough, space is the limit" } else { ": enough" }
}

/// How far the load went above what is required, or fell short of it.
fn margin(achieved_iops: f64, required_iops: f64) -> String {
    if required_iops <= 0.0 {
        return String::new();
    }
    let percent = (achieved_iops / required_iops - 1.0) * 100.0;
    let side = if percent < 0.0 { "less" } else { "more" };
    format!(", {} % {side}", format::three_digits(percent.abs()))
}

fn two_digits(mailboxes: f64) -> f64 {
    if mailboxes < 10.0 {
        return mailboxes.floor();
    }
    let step = 10_f64.powf(mailboxes.log10().floor() - 1.0);
    (mailboxes / step).floor() * step
}

#[cfg(test)]
mod tests {
    use super::Carried;
    use crate::tests::passing;

    #[test]
    fn what_a_plan_asks_for_is_said_beside_what_was_achieved() {
        let mut run = passing();
        run.start.settings.mailboxes = None;
        let said = |run: &record::RunRecord| Carried::of(run).sentence();
        assert!(said(&run).ends_with("space is the limit."), "{}", said(&run));
        run.start.settings.mailboxes = Some(1_000);
        run.start.settings.mailbox_bytes = Some(2 << 30);
        assert_eq!(
            said(&run),
            "Required for 1,000 mailboxes of 0.12 IOPS: 120 IOPS; achieved 337, 180 % more; \
             space for 1,117 of 2.0 GiB on 2.2 TiB: enough."
        );
        let carried = Carried::of(&run);
        assert!((carried.least() - 1_100.0).abs() < f64::EPSILON, "{}", carried.least());
        assert_eq!(
            carried.remark(),
            "by space, of 2.0 GiB each; by I/O 2,800 of 0.12 IOPS, without reserve"
        );
        run.start.settings.mailbox_bytes = Some(1 << 20);
        assert!(Carried::of(&run).remark().starts_with("by I/O, of 0.12 IOPS each"));
        run.start.settings.mailbox_bytes = Some(2 << 30);
        run.start.settings.mailboxes = Some(4_000);
        assert!(said(&run).contains("480 IOPS; achieved 337, 29.9 % less;"), "{}", said(&run));
        run.start.settings.mailbox_bytes = Some(10 << 30);
        assert!(said(&run).ends_with("not enough, space is the limit."));
        run.start.settings.mailbox_bytes = None;
        assert!(said(&run).ends_with("on 2.2 TiB; the plan states no size."), "{}", said(&run));
        run.start.databases.clear();
        assert!(said(&run).ends_with("whether their mail fits is unknown."));
    }
}
