//! Alternates this program with its peer, so that changes in the machine's speed affect both
//! equally.

use std::fmt;

use crate::{PAIRS, median};
use xtask::failure::Failure;

/// Medians of one figure over alternating pairs; larger is better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pairs {
    /// This program's figure.
    pub ours: f64,
    /// The peer's figure.
    pub peer: f64,
    /// Median of the pairs' ratios, this program over the peer.
    pub ratio: f64,
    /// Target for the ratio.
    pub goal: f64,
}

/// Measures both in alternating order.
pub(crate) fn measure(
    goal: f64,
    mut ours: impl FnMut() -> Result<f64, Failure>,
    mut peer: impl FnMut() -> Result<f64, Failure>,
) -> Result<Pairs, Failure> {
    let mut pairs = Vec::new();
    for pair in 0..PAIRS {
        let both = if pair % 2 == 0 {
            let ours = ours()?;
            (ours, peer()?)
        } else {
            let peer = peer()?;
            (ours()?, peer)
        };
        println!("  pair {}: {:.0} against {:.0}", pair + 1, both.0, both.1);
        pairs.push(both);
    }
    Ok(Pairs {
        ours: median(pairs.iter().map(|(ours, _)| *ours).collect()),
        peer: median(pairs.iter().map(|(_, peer)| *peer).collect()),
        ratio: median(pairs.iter().map(|(ours, peer)| ours / peer).collect()),
        goal,
    })
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.ratio >= self.goal { "goal met" } else { "below the goal" };
        write!(
            f,
            "{:.0} MiB/s, fio {:.0} MiB/s: {:.3} x ({verdict} of {})",
            self.ours, self.peer, self.ratio, self.goal
        )
    }
}
