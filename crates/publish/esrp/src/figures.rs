//! Figures of the tested servers that appear in more than one place in the paper.

use std::collections::BTreeMap;

use plan::Plan;
use record::{DatabaseFacts, Start, VolumeFacts};

use report::format;

use crate::roles::Server;
use crate::vendor::Vendor;

/// The reserve that is part of the IOPS that a vendor states.
const VENDORS_RESERVE_PERCENT: f64 = 20.0;

/// Storage demand of the mailboxes of one server.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Demand {
    /// Active mailboxes of one server.
    pub mailboxes: Option<u64>,
    /// Transactional IOPS per mailbox as the plan states them, else the vendor's.
    pub iops_each: Option<f64>,
    /// Excess of the plan's load over the demand of its mailboxes, in percent; `None` if
    /// `iops_each` is the vendor's, which includes a reserve.
    pub reserve_percent: Option<f64>,
    /// Size of one mailbox.
    pub bytes_each: Option<f64>,
}

/// Space used by one server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    /// Database files at the start of the tests.
    pub databases_bytes: u64,
    /// The volumes that hold them.
    pub volumes_bytes: u64,
}

impl Demand {
    /// The values in the plan of the runs, else the vendor's.
    pub(crate) fn of(server: &Server<'_>, vendor: &Vendor) -> Self {
        let said = &vendor.configuration;
        let start = server.facts().map(|run| &run.record.start);
        let settings = start.map(|start| &start.settings);
        let vendors_mailboxes = said.active_mailboxes_per_server;
        Self {
            mailboxes: settings
                .and_then(|of| of.mailboxes)
                .or((vendors_mailboxes > 0).then_some(vendors_mailboxes)),
            iops_each: settings
                .and_then(|of| of.iops_per_mailbox)
                .or(Some(said.iops_per_mailbox).filter(|&iops| iops > 0.0)),
            reserve_percent: start.and_then(reserve_percent),
            bytes_each: settings
                .and_then(|of| of.mailbox_bytes)
                .map(|bytes| bytes as f64)
                .or_else(|| bytes_of(&said.mailbox_size)),
        }
    }

    /// IOPS required by all mailboxes of the server.
    pub(crate) fn iops(self) -> Option<f64> {
        Some(self.mailboxes? as f64 * self.iops_each?)
    }

    /// What to say after a number of IOPS with the reserve; empty if there is no reserve, or no
    /// number.
    pub(crate) fn reserve_remark(self) -> String {
        let vendors = self.iops_each.map(|_| VENDORS_RESERVE_PERCENT);
        let percent = self.reserve_percent.or(vendors).unwrap_or(0.0);
        if percent <= 0.0 {
            return String::new();
        }
        format!(", with a reserve of {} %", units::three_digits((percent * 1e6).round() / 1e6))
    }

    /// Transactional IOPS per mailbox, including the reserve.
    pub(crate) fn iops_with_reserve(self) -> Option<f64> {
        Some(self.iops_each? * (1.0 + self.reserve_percent.unwrap_or(0.0) / 100.0))
    }

    /// Space required by all mailboxes of the server, in bytes.
    pub(crate) fn bytes(self) -> Option<f64> {
        Some(self.mailboxes? as f64 * self.bytes_each?)
    }
}

/// A plan's load is a whole number of IOPS, so an excess below one is due to rounding.
const LEAST_RESERVE_IOPS: f64 = 1.0;

/// The excess of the load over the demand of the plan's mailboxes, in percent of the demand: as the
/// plan states it if that makes this load; 0 if there is no excess but rounding. `None` if the plan
/// does not state the IOPS of a mailbox.
fn reserve_percent(start: &Start) -> Option<f64> {
    let settings = &start.settings;
    let each = settings.iops_per_mailbox?;
    let needed = settings.mailboxes.map_or(0.0, |mailboxes| mailboxes as f64 * each);
    let target = settings.target_iops.filter(|_| needed > 0.0).unwrap_or(0.0);
    let planned = Plan::parse("plan", &start.plan_text).ok().and_then(|plan| plan.mailboxes);
    // A target of the command line leaves the plan's reserve behind.
    if let Some(percent) = planned.map(|of| f64::from(of.headroom_percent))
        && (0.0..1.0).contains(&(target - needed * (1.0 + percent / 100.0)))
    {
        return Some(percent);
    }
    let excess = target - needed;
    Some(if excess >= LEAST_RESERVE_IOPS { excess / needed * 100.0 } else { 0.0 })
}

/// Parses a size as vendors write it, such as "2 GB" or "512 MiB", into bytes: mailboxes are sized
/// by powers of 1024 under either name. `None` for any other text.
fn bytes_of(size: &str) -> Option<f64> {
    let size = size.trim();
    let (number, unit) = size.split_at(size.find(|of: char| of.is_ascii_alphabetic())?);
    let power = match unit.to_ascii_uppercase().as_str() {
        "MB" | "MIB" => 2,
        "GB" | "GIB" => 3,
        "TB" | "TIB" => 4,
        _ => return None,
    };
    let number: f64 = number.trim().replace(',', "").parse().ok()?;
    (number > 0.0).then(|| number * 1_024_f64.powi(power))
}

impl Room {
    /// Space used by the databases of a server, as far as the records show.
    pub(crate) fn of(server: &Server<'_>) -> Self {
        let Some(run) = server.facts() else {
            return Self::default();
        };
        let databases = &run.record.start.databases;
        let imported = run.record.imported().and_then(|of| of.initial_database_bytes);
        let measured: u64 = databases.iter().map(|facts| facts.initial_bytes).sum();
        Self {
            databases_bytes: imported.unwrap_or(measured),
            volumes_bytes: volumes(databases, |facts| &facts.volume).values().sum(),
        }
    }
}

/// Space on its volumes for the databases of a server, in bytes; 0 if unknown.
pub(crate) fn room_bytes(server: &Server<'_>) -> u64 {
    server.facts().map_or(0, |run| verdict::room_bytes(&run.record))
}

/// A room in GiB, rounded down to a hundredth, so that the numbers of a table follow from the
/// printed room.
pub(crate) fn room_in_gib(bytes: u64) -> String {
    let hundredths = (u128::from(bytes) * 100) >> 30;
    format!("{} GiB", format::number(hundredths as f64 / 100.0, 2))
}

/// Each volume of a kind once, with its size.
pub(crate) fn volumes(
    databases: &[DatabaseFacts],
    of: fn(&DatabaseFacts) -> &VolumeFacts,
) -> BTreeMap<&str, u64> {
    databases
        .iter()
        .map(of)
        .filter(|volume| volume.size_bytes > 0)
        .map(|volume| (volume.mount.as_str(), volume.size_bytes))
        .collect()
}

/// Number of databases of a server; an imported result lists only instances.
pub(crate) fn databases(server: &Server<'_>) -> usize {
    server.facts().map_or(0, |run| match run.record.imported() {
        Some(imported) => imported.instances.len(),
        None => run.record.start.databases.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Demand, bytes_of, room_in_gib};

    #[test]
    fn a_room_is_rounded_down() {
        let bytes = (20_960 << 30) / 1_000;
        assert_eq!(room_in_gib(bytes), "20.95 GiB");
        assert_eq!(room_in_gib(2_250 << 30), "2,250.00 GiB");
    }

    #[test]
    fn a_demand_says_which_reserve_it_includes() {
        let remark = |reserve_percent| {
            Demand { iops_each: Some(0.1), reserve_percent, ..Demand::default() }.reserve_remark()
        };
        assert_eq!(remark(Some(20.000_000_001)), ", with a reserve of 20 %");
        assert_eq!(remark(None), ", with a reserve of 20 %");
        assert_eq!(Demand::default().reserve_remark(), "", "a number that is missing has none");
        assert_eq!(remark(Some(0.0)), "");
    }

    #[test]
    fn sizes_of_mailboxes_are_read_as_vendors_write_them() {
        let mib = |text: &str| bytes_of(text).map(|bytes| bytes / 1_048_576.0);
        assert_eq!(mib("2 GB"), Some(2_048.0));
        assert_eq!(mib(" 512MiB"), Some(512.0));
        assert_eq!(mib("1,024 MB"), Some(1_024.0));
        for text in ["", "2", "big", "2 GB each", "-1 GB"] {
            assert_eq!(mib(text), None, "{text}");
        }
    }
}
