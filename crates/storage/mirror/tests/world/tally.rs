//! Counts the events of a run, to show that its promises were tested.

use mirror::Status;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) seeds: u64,
    pub(crate) acknowledged: u64,
    pub(crate) reads: u64,
    pub(crate) takeovers: u64,
    pub(crate) power_losses: u64,
    pub(crate) pauses: u64,
    pub(crate) cuts: u64,
    pub(crate) registry_cuts: u64,
    pub(crate) flash_failures: u64,
    pub(crate) hand_overs: u64,
    pub(crate) drains: u64,
    /// Steps of a node that wrote back, and that resynchronised its peer.
    pub(crate) steps_in_write_back: u64,
    pub(crate) steps_in_resync: u64,
    /// Faults that struck meanwhile.
    pub(crate) faults_in_resync: u64,
    pub(crate) faults_in_hand_over: u64,
    pub(crate) destaged: u64,
    pub(crate) refused_by_fence: u64,
    /// Changes that were found in the specification.
    pub(crate) specified_changes: u64,
    /// Contents that were read from their homes.
    pub(crate) fetched: u64,
}

impl Tally {
    pub(crate) fn note(&mut self, status: &Status) {
        self.steps_in_write_back += u64::from(status.writes_back);
        self.steps_in_resync += u64::from(status.resync.is_some());
    }

    pub(crate) fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.seeds, other.seeds),
            (&mut self.acknowledged, other.acknowledged),
            (&mut self.reads, other.reads),
            (&mut self.takeovers, other.takeovers),
            (&mut self.power_losses, other.power_losses),
            (&mut self.pauses, other.pauses),
            (&mut self.cuts, other.cuts),
            (&mut self.registry_cuts, other.registry_cuts),
            (&mut self.flash_failures, other.flash_failures),
            (&mut self.hand_overs, other.hand_overs),
            (&mut self.drains, other.drains),
            (&mut self.steps_in_write_back, other.steps_in_write_back),
            (&mut self.steps_in_resync, other.steps_in_resync),
            (&mut self.faults_in_resync, other.faults_in_resync),
            (&mut self.faults_in_hand_over, other.faults_in_hand_over),
            (&mut self.destaged, other.destaged),
            (&mut self.refused_by_fence, other.refused_by_fence),
            (&mut self.specified_changes, other.specified_changes),
            (&mut self.fetched, other.fetched),
        ];
        for (sum, part) in pairs {
            *sum += part;
        }
    }
}
