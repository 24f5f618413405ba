//! Load of recovery on disks, on top of the users' load: copies that are seeded, read for seeding,
//! or catching up. A pure function of the layout and its timeline.

use std::collections::BTreeMap;

use rehearsal::{Duty, PlayedDeployment, Stretch};

/// Recovery work on the disk of a host that it loads most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RecoveryWork {
    /// Copies read to seed others, and their total bytes per second.
    pub read: (usize, u64),
    /// Copies being seeded, and their total bytes per second.
    pub written: (usize, u64),
    /// Copies that catch up.
    pub(crate) catching_up: usize,
}

impl RecoveryWork {
    /// Sort key of disks: bytes first.
    const fn weight(&self) -> (u64, usize) {
        (self.read.1 + self.written.1, self.catching_up)
    }

    /// Describes the work, in words that name one disk.
    pub(super) fn words(&self) -> String {
        let Self { read, written, catching_up } = *self;
        let parts = [
            (read.0, format!("read at {} to seed others", megabytes(read))),
            (written.0, format!("seeded at {}", megabytes(written))),
            (catching_up, "catching up".to_owned()),
        ];
        let mut due = Vec::new();
        for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
            due.push(format!("{} {what}", copies(count)));
        }
        due.join(", ")
    }
}

fn megabytes((count, rate): (usize, u64)) -> String {
    let in_all = if count > 1 { " in all" } else { "" };
    format!("{:.0} MB/s{in_all}", rate as f64 / 1e6)
}

fn copies(count: usize) -> String {
    match count {
        1 => "one copy on a disk is".to_owned(),
        _ => format!("{count} copies on one disk are"),
    }
}

/// Counts a copy with a seeding rate of `rate` bytes per second.
const fn add(sum: &mut (usize, u64), rate: u64) {
    *sum = (sum.0 + 1, sum.1 + rate);
}

/// For each stretch, the recovery work of each host on its most loaded disk. Hosts without such
/// work are left out.
pub(super) fn recovery_work(
    deployment: &PlayedDeployment,
    stretches: &[Stretch],
) -> Vec<BTreeMap<usize, RecoveryWork>> {
    stretches.iter().map(|stretch| busiest(&of_disks(deployment, stretch))).collect()
}

/// The recovery work of each host and array in one stretch.
fn of_disks(
    deployment: &PlayedDeployment,
    stretch: &Stretch,
) -> BTreeMap<(usize, usize), RecoveryWork> {
    let mut all: BTreeMap<(usize, usize), RecoveryWork> = BTreeMap::new();
    for (database, duties) in deployment.databases.iter().zip(&stretch.duties) {
        for (copy, duty) in database.copies.iter().zip(duties) {
            let here = (copy.host, copy.place.array);
            match *duty {
                Duty::Seeding { source, rate } => {
                    add(&mut all.entry(here).or_default().written, rate);
                    let from = &database.copies[source];
                    let there = (from.host, from.place.array);
                    add(&mut all.entry(there).or_default().read, rate);
                }
                Duty::CatchingUp => all.entry(here).or_default().catching_up += 1,
                Duty::Active | Duty::Replaying | Duty::Idle => {}
            }
        }
    }
    all
}

/// The disk of each host with the most recovery work.
fn busiest(disks: &BTreeMap<(usize, usize), RecoveryWork>) -> BTreeMap<usize, RecoveryWork> {
    let mut hosts: BTreeMap<usize, RecoveryWork> = BTreeMap::new();
    for (&(host, _), work) in disks {
        let most = hosts.entry(host).or_default();
        if work.weight() > most.weight() {
            *most = *work;
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rehearsal::{Duty, Stretch};
    use units::Nanos;

    use super::{RecoveryWork, recovery_work};
    use crate::size::prove::fixture::deployment;

    fn work(duties: Vec<Vec<Duty>>) -> BTreeMap<usize, RecoveryWork> {
        let stretch = Stretch {
            from: Nanos::ZERO,
            to: Nanos::from_secs(60),
            begun: Vec::new(),
            up: vec![true; 3],
            duties,
            failed_drives: Vec::new(),
        };
        recovery_work(&deployment(3), &[stretch]).remove(0)
    }

    const NORMAL: [Duty; 2] = [Duty::Active, Duty::Replaying];

    /// Database n is on hosts n and n + 1 of three: the copy of the first on host 1 is seeded.
    #[test]
    fn a_host_that_is_read_to_seed_another_recovers_too() {
        let seeded = vec![Duty::Active, Duty::Seeding { source: 0, rate: 5 }];
        let found = work(vec![seeded, NORMAL.to_vec(), NORMAL.to_vec()]);
        let read = RecoveryWork { read: (1, 5), ..RecoveryWork::default() };
        let written = RecoveryWork { written: (1, 5), ..RecoveryWork::default() };
        assert_eq!(found, BTreeMap::from([(0, read), (1, written)]));
    }

    /// Hosts 1 and 2 seed the two copies of host 0; one of host 2 catches up meanwhile.
    #[test]
    fn the_copies_of_one_disk_add_up() {
        let first = vec![Duty::Seeding { source: 1, rate: 5 }, Duty::Active];
        let third = vec![Duty::Active, Duty::Seeding { source: 0, rate: 7 }];
        let found = work(vec![first, vec![Duty::Active, Duty::CatchingUp], third]);
        let both = RecoveryWork { written: (2, 12), ..RecoveryWork::default() };
        let behind = RecoveryWork { read: (1, 7), catching_up: 1, ..RecoveryWork::default() };
        assert_eq!((found[&0], found[&2]), (both, behind));
        assert_eq!(found[&1].read, (1, 5));
    }

    #[test]
    fn words_name_only_what_happens() {
        let work = RecoveryWork { read: (2, 48_000_000), written: (0, 0), catching_up: 1 };
        let words = "2 copies on one disk are read at 48 MB/s in all to seed others, one copy on \
                     a disk is catching up";
        assert_eq!(work.words(), words);
    }
}
