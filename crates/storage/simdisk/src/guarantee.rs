//! Which writes a loss of power would spare: those whose every part has reached something that
//! needs none.

use std::collections::BTreeMap;

use crate::slots::HostToken;

/// Writes of the host that power may still take away.
#[derive(Default)]
pub(crate) struct UnsafeWrites {
    /// Reasons why a write is not safe: parts in volatile memory, and the write itself while it has
    /// no answer.
    parts: BTreeMap<HostToken, u32>,
}

impl UnsafeWrites {
    /// One more part of a write is at risk.
    pub(crate) fn add(&mut self, token: HostToken) {
        *self.parts.entry(token).or_default() += 1;
    }

    /// One part fewer is.
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
