//! Quorum: which side continues when a group splits, the one with most of the votes (facts 5.17).
//!
//! All failures are assumed to come at once. Given time between them, a cluster may remove the
//! votes of failed members and survive more; do not count on that.

use super::Layout;

/// Location of the witness, which has a vote if the number of members is even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Witness {
    /// In the first site, the home of the group.
    First,
    /// In the second site.
    Second,
    /// In a third site, which each of the two reaches without the other.
    Third,
}

impl Witness {
    /// Its site, counted from 0; `None` for a third site.
    pub const fn site(self) -> Option<usize> {
        match self {
            Self::First => Some(0),
            Self::Second => Some(1),
            Self::Third => None,
        }
    }
}

/// The votes of a group.
pub(super) struct Votes {
    /// The site of each member.
    sites: Vec<usize>,
    witness: Witness,
}

/// Whether a group stays up after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quorum {
    /// It stays up without help.
    Kept,
    /// It stops until an administrator activates the surviving site, with a witness there.
    Restorable,
    /// It stops, and no site has a majority of its members left.
    Lost,
}

/// Outcome for a group whose member `n` is in site `sites[n]` and is running if `up[n]`.
pub fn quorum_of(sites: &[usize], up: &[bool], witness: Witness, witness_is_up: bool) -> Quorum {
    Votes { sites: sites.to_vec(), witness }.outcome(up, witness_is_up)
}

impl Votes {
    /// The votes of all servers of a layout.
    pub(super) fn of(layout: &Layout, witness: Witness) -> Self {
        let sites = layout.servers.iter().map(|server| server.site).collect();
        Self { sites, witness }
    }

    /// Whether the witness has a vote.
    pub(super) fn is_even(&self) -> bool {
        self.sites.len().is_multiple_of(2)
    }

    /// Returns the outcome for the group if these servers are up, with or without the witness.
    pub(super) fn outcome(&self, up: &[bool], witness: bool) -> Quorum {
        if self.is_majority(up, |_| true, witness) {
            return Quorum::Kept;
        }
        let last = self.sites.iter().copied().max().unwrap_or(0);
        // Activation reduces the membership to one site, with its own witness.
        let restored = (0..=last).any(|own| self.is_majority(up, |site| *site == own, true));
        if restored { Quorum::Restorable } else { Quorum::Lost }
    }

    /// Whether the running members in `counted` sites have a majority of their votes.
    fn is_majority(&self, up: &[bool], counted: impl Fn(&usize) -> bool, witness: bool) -> bool {
        let members = self.sites.iter().zip(up).filter(|(site, _)| counted(site));
        let (members, left) =
            members.fold((0, 0), |(members, left), (_, up)| (members + 1, left + usize::from(*up)));
        let even = members % 2 == 0;
        let votes = members + usize::from(even);
        left > 0 && left + usize::from(even && witness) > votes / 2
    }

    /// The sites that continue when the link between them is cut, each with whether it sees the
    /// witness. A witness in a third site may side with either.
    pub(super) fn sides(&self) -> Vec<(usize, bool)> {
        let mut sides = Vec::new();
        for side in 0..2 {
            let up: Vec<bool> = self.sites.iter().map(|site| *site == side).collect();
            let witness = self.witness.site().is_none_or(|site| site == side);
            if self.outcome(&up, witness) == Quorum::Kept {
                sides.push((side, witness));
            }
        }
        sides
    }
}

#[cfg(test)]
mod tests {
    use super::{Quorum, Votes, Witness};

    fn votes(first: usize, second: usize, witness: Witness) -> Votes {
        let sites = [vec![0; first], vec![1; second]].concat();
        Votes { sites, witness }
    }

    /// By hand: 4 + 4 members and a witness have nine votes, of which five are a majority.
    #[test]
    fn the_witness_decides_between_equal_sites() {
        let up = |first: usize, second: usize| {
            [vec![true; first], vec![false; 4 - first]]
                .concat()
                .into_iter()
                .chain([vec![true; second], vec![false; 4 - second]].concat())
                .collect::<Vec<bool>>()
        };
        let group = votes(4, 4, Witness::First);
        assert_eq!(group.outcome(&up(4, 0), true), Quorum::Kept);
        assert_eq!(group.outcome(&up(4, 0), false), Quorum::Restorable);
        assert_eq!(group.outcome(&up(0, 4), false), Quorum::Restorable);
        assert_eq!(group.outcome(&up(0, 3), false), Quorum::Restorable);
        // Two of four plus the new witness have three of five votes.
        assert_eq!(group.outcome(&up(0, 2), false), Quorum::Restorable);
        assert_eq!(group.outcome(&up(0, 1), false), Quorum::Lost);
        assert_eq!(group.outcome(&up(0, 0), true), Quorum::Lost);
        assert_eq!(group.outcome(&up(3, 2), false), Quorum::Kept);
    }

    #[test]
    fn who_goes_on_when_the_link_is_cut() {
        assert_eq!(votes(4, 4, Witness::First).sides(), [(0, true)]);
        assert_eq!(votes(4, 4, Witness::Second).sides(), [(1, true)]);
        assert_eq!(votes(4, 4, Witness::Third).sides(), [(0, true), (1, true)]);
        // Five members have no witness; four of six are a majority without it.
        assert_eq!(votes(3, 2, Witness::Second).sides(), [(0, false)]);
        assert_eq!(votes(4, 2, Witness::Second).sides(), [(0, false)]);
    }
}
