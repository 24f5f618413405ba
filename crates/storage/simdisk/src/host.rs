//! The processors of the host, which work on transactions in the order of arrival.

use units::Nanos;

use crate::description::{ArrayDescription, HostSection};
use crate::servers::FifoServers;

/// Processors shared by a load; their work makes others wait.
pub struct HostProcessors {
    section: HostSection,
    servers: FifoServers,
}

impl HostProcessors {
    /// The processors of a description; `None` if processor time costs nothing.
    pub fn of(description: &ArrayDescription) -> Option<Self> {
        let section = description.host;
        let servers = FifoServers::new(section.processors);
        (section.processors > 0).then_some(Self { section, servers })
    }

    /// End of a transaction with `updates` changes that arrives now.
    pub fn done(&mut self, now: Nanos, updates: u64) -> Nanos {
        let HostSection { update_us, commit_us, .. } = self.section;
        Nanos(self.servers.serve(now.0, update_us * updates as f64 + commit_us))
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::HostProcessors;
    use crate::description::ArrayDescription;

    const ARRAY: &str = include_str!("../../../../arrays/nvme.toml");

    #[test]
    fn transactions_wait_for_a_free_processor() {
        let of = |text: &str| {
            HostProcessors::of(&ArrayDescription::parse("a", text, &[]).expect("an array"))
        };
        assert!(of(ARRAY).is_none());
        let section = "[host]\nprocessors = 2\nupdate_us = 100\ncommit_us = 50\n";
        let mut two = of(&format!("{ARRAY}\n{section}")).expect("two of them");
        let mut done = Vec::new();
        for _ in 0..4 {
            done.push(two.done(Nanos(0), 3).0 / 1_000);
        }
        assert_eq!(done, [350, 350, 700, 700]);
        assert_eq!(two.done(Nanos(10_000_000), 0).0 / 1_000, 10_050);
    }
}
