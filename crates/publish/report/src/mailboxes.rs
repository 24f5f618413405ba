//! A load expressed in mailboxes. Fast disks can serve more mailboxes than they have space for, so
//! both bounds are always shown together.

use record::RunRecord;
use units::Bytes;
use verdict::MailboxRoom;

use crate::format;

/// IOPS of a mailbox if the plan states none: 150 messages a day in Exchange 2013 and later (0.101
/// in Microsoft's mailbox profile table).
const USUAL_IOPS_EACH: f64 = 0.1;

/// Size of a mailbox for the space bound if the plan states none: the default send quota of
/// Exchange 2013 and later, 2 GB.
const USUAL_SIZE: Bytes = Bytes(2 << 30);

/// Mailboxes that a run supports, by each bound: the bound by I/O has two significant digits, the
/// one by space is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Carried {
    /// By I/O: the measured rate divided by the rate of one mailbox, rounded down to two digits,
    /// but not below those of the plan if it is enough for them.
    pub by_io: f64,
    /// By the space on the database volumes; `None` if the record does not state it.
    pub by_space: Option<f64>,
    room_bytes: u64,
    size_each: Bytes,
    /// Mailboxes that the plan asks for.
    wanted: Option<u64>,
    /// Data to be stored according to the plan, if it states the size of a mailbox.
    room: Option<MailboxRoom>,
    achieved_iops: f64,
    /// Transactional IOPS of one mailbox.
    pub iops_each: f64,
}

impl Carried {
    /// The mailboxes at the load that `run` achieved.
    pub(crate) fn of(run: &RunRecord) -> Self {
        Self::at(run, run.achieved_transactional_iops())
    }

    /// The mailboxes at another load of the storage of `run`.
    pub(crate) fn at(run: &RunRecord, achieved_iops: f64) -> Self {
        let stated = run.start.settings.iops_per_mailbox;
        let iops_each = stated.filter(|&iops| iops > 0.0).unwrap_or(USUAL_IOPS_EACH);
        let room_bytes = verdict::room_bytes(run);
        let size_each = run.start.settings.mailbox_bytes.map_or(USUAL_SIZE, Bytes);
        let by_space = (room_bytes / size_each.0.max(1)) as f64;
        let wanted = run.start.settings.mailboxes;
        let by_io = achieved_iops / iops_each;
        // Rounded down, a load that the plan's mailboxes need must not carry fewer of them.
        let asked = wanted.map(|wanted| wanted as f64).filter(|&wanted| by_io >= wanted);
        Self {
            by_io: two_digits(by_io).max(asked.unwrap_or(0.0)),
            by_space: (room_bytes > 0).then_some(by_space),
            room_bytes,
            size_each,
            wanted,
            room: MailboxRoom::of(run),
            achieved_iops,
            iops_each,
        }
    }

    /// The lower of both bounds: there can be no more mailboxes than fit.
    pub(crate) fn least(&self) -> f64 {
        self.by_space.map_or(self.by_io, |by_space| by_space.min(self.by_io))
    }

    /// IOPS that the plan's mailboxes require; `None` if it does not state their number.
    pub(crate) fn required_iops(&self) -> Option<f64> {
        Some(self.wanted? as f64 * self.iops_each)
    }

    /// States which bound limits the number, and gives the other one.
    pub(crate) fn remark(&self) -> String {
        let each = format::iops_each(self.iops_each);
        let by_io = format::number(self.by_io, 0);
        match self.by_space {
            None => {
                format!("limit: I/O, {each} IOPS each, no reserve; space was not checked")
            }
            Some(by_space) if by_space < self.by_io => format!(
                "limit: space, {} each; I/O for {by_io} of {each} IOPS, no reserve",
                format::size(self.size_each.0)
            ),
            Some(by_space) => format!(
                "limit: I/O, {each} IOPS each, no reserve; space for {} of {}",
                format::number(by_space, 0),
                format::size(self.size_each.0)
            ),
        }
    }

    /// Both bounds of the mailboxes, and which of them is the limit.
    pub(crate) fn bounds(&self) -> String {
        let by_io = format::number(self.by_io, 0);
        let each = format::iops_each(self.iops_each);
        let Some(by_space) = self.by_space else {
            return format!("I/O for {by_io} mailboxes of {each} IOPS; space was not checked.");
        };
        let limit = if by_space < self.by_io { "space" } else { "I/O" };
        format!(
            "I/O for {by_io} mailboxes of {each} IOPS, space for {} of {}; {limit} is the limit.",
            format::number(by_space, 0),
            format::size(self.size_each.0)
        )
    }

    /// The requirement next to the achieved load, or the number of mailboxes that load supports.
    pub(crate) fn sentence(&self) -> String {
        let each = format::iops_each(self.iops_each);
        let Some(wanted) = self.wanted else {
            return self.supported(&each);
        };
        let required_iops = wanted as f64 * self.iops_each;
        let asked = format!(
            "Required for {} mailboxes of {each} IOPS: {} IOPS; achieved {}{}",
            format::whole(wanted),
            format::three_digits(required_iops),
            format::three_digits(self.achieved_iops),
            margin(self.achieved_iops, required_iops)
        );
        let Some(by_space) = self.by_space else {
            return format!("{asked}; space was not checked.");
        };
        // With a mailbox size in the plan the number is exact; otherwise the usual size gives an
        // estimate.
        let (fitting, bound) = match self.room {
            Some(room) => (format::whole(room.fitting()), bound(room)),
            None if by_space < 1.0 => ("none".to_owned(), "; the plan states no size"),
            None => (about(by_space), "; the plan states no size"),
        };
        format!(
            "{asked}; space for {fitting} of {} in {} of room{bound}.",
            format::size(self.size_each.0),
            format::room(self.room_bytes)
        )
    }

    /// The mailboxes that the load supports, if the plan does not state their number.
    fn supported(&self, each: &str) -> String {
        let by_io = about(self.by_io);
        let enough = format!("Enough I/O for {by_io} mailboxes ({each} IOPS each)");
        let Some(by_space) = self.by_space else {
            return format!("{enough}; space was not checked.");
        };
        let (size, room) = (format::size(self.size_each.0), format::room(self.room_bytes));
        if by_space < 1.0 {
            return format!("{enough}, but no space for even one ({size} each, {room} of room).");
        }
        let space = format!("{} ({size} each in {room} of room)", format::number(by_space, 0));
        if by_space < self.by_io {
            format!("{enough}, but space for only about {space}.")
        } else {
            format!("{enough}; space for about {space}: I/O is the limit.")
        }
    }
}

fn about(mailboxes: f64) -> String {
    format!("about {}", format::number(mailboxes, 0))
}

const fn bound(room: MailboxRoom) -> &'static str {
    if room.fitting() < room.wanted { ": not enough, space is the limit" } else { ": enough" }
}

/// The excess of the load over the requirement, or its shortfall.
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

    /// Rounded in two ways, the room would seem to be two.
    #[test]
    fn the_room_is_one_number_in_a_report() {
        let mut run = passing();
        let settings = &mut run.start.settings;
        (settings.mailboxes, settings.mailbox_bytes) = (Some(40), Some(2 << 30));
        run.start.databases.truncate(1);
        let facts = &mut run.start.databases[0];
        facts.volume.free_bytes = 81_707_000_000 - facts.initial_bytes;
        let said = crate::meaning::sentences(&run, &verdict::judge(&run)).join(" ");
        assert!(said.contains("space for 38 of 2.0 GiB in 76.09 GiB of room"), "{said}");
        assert!(said.contains("40 mailboxes of 2.00 GiB do not fit"), "{said}");
        assert!(!said.contains("76.10"), "{said}");
    }

    #[test]
    fn what_a_plan_asks_for_is_said_beside_what_was_achieved() {
        let mut run = passing();
        run.start.settings.mailboxes = None;
        let said = |run: &record::RunRecord| Carried::of(run).sentence();
        assert_eq!(
            said(&run),
            "Enough I/O for about 2,800 mailboxes (0.12 IOPS each), but space for only about \
             1,117 (2.0 GiB each in 2.18 TiB of room)."
        );
        let mut full = run.clone();
        for facts in &mut full.start.databases {
            facts.volume.size_bytes = 1 << 28;
        }
        assert!(
            said(&full).contains(", but no space for even one (2.0 GiB each, "),
            "{}",
            said(&full)
        );
        run.start.settings.mailboxes = Some(1_000);
        run.start.settings.mailbox_bytes = Some(2 << 30);
        assert_eq!(
            said(&run),
            "Required for 1,000 mailboxes of 0.12 IOPS: 120 IOPS; achieved 337, 180 % more; \
             space for 1,117 of 2.0 GiB in 2.18 TiB of room: enough."
        );
        let carried = Carried::of(&run);
        assert!((carried.least() - 1_117.0).abs() < f64::EPSILON, "{}", carried.least());
        assert_eq!(
            carried.bounds(),
            "I/O for 2,800 mailboxes of 0.12 IOPS, space for 1,117 of 2.0 GiB; space is the limit."
        );
        assert_eq!(
            carried.remark(),
            "limit: space, 2.0 GiB each; I/O for 2,800 of 0.12 IOPS, no reserve"
        );
        run.start.settings.mailbox_bytes = Some(1 << 20);
        let remark = Carried::of(&run).remark();
        assert!(
            remark.starts_with("limit: I/O, 0.12 IOPS each, no reserve; space for"),
            "{remark}"
        );
        run.start.settings.mailbox_bytes = Some(2 << 30);
        run.start.settings.mailboxes = Some(4_000);
        assert!(said(&run).contains("480 IOPS; achieved 337, 29.9 % less;"), "{}", said(&run));
        run.start.settings.mailbox_bytes = Some(10 << 30);
        assert!(said(&run).ends_with("not enough, space is the limit."));
        run.start.settings.mailbox_bytes = None;
        assert!(
            said(&run).ends_with("in 2.18 TiB of room; the plan states no size."),
            "{}",
            said(&run)
        );
        run.start.databases.clear();
        assert!(said(&run).ends_with("space was not checked."));
    }
}
