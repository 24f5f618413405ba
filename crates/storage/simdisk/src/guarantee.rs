//! Tracks which writes would survive a loss of power: those with every part on a medium that needs
//! no power.

use std::collections::BTreeMap;

use crate::slots::HostToken;

/// The host's writes that a loss of power may still destroy.
#[derive(Default)]
pub(crate) struct UnsafeWrites {
    /// Number of reasons why a write is not safe: parts in volatile memory, and the write itself
    /// until it is answered.
    parts: BTreeMap<HostToken, u32>,
}

impl UnsafeWrites {
    /// Records that one more part of a write is at risk.
    pub(crate) fn add(&mut self, token: HostToken) {
        *self.parts.entry(token).or_default() += 1;
    }

    /// Records that one part fewer of a write is at risk.
    pub(crate) fn remove(&mut self, token: HostToken) {
        let Some(parts) = self.parts.get_mut(&token) else {
            return;
        };
        *parts -= 1;
        if *parts == 0 {
            self.parts.remove(&token);
        }
    }

    /// Whether all of a write would survive a loss of power now.
    pub(crate) fn spares(&self, token: HostToken) -> bool {
        !self.parts.contains_key(&token)
    }
}
