//! Handles failed flash: it is no longer used, and is marked as empty if possible, so that no later
//! session finds old blocks.

use device::DeviceError;

use super::CacheStoreCore;
use super::status::CacheHealth;

impl CacheStoreCore {
    /// Stops the use of the flash. Returns once the attempt to mark it as empty has ended: only
    /// then may a write to a region that is not marked reach the backing volume.
    pub(super) async fn fail(&self, error: DeviceError) {
        let is_first = {
            let mut state = self.state.borrow_mut();
            let is_first = state.is_working();
            if is_first {
                state.health = CacheHealth::Failed { error, marked_empty: false };
                state.is_marking_empty = true;
                for position in 0..self.geometry.positions() {
                    state.forget(position);
                }
            }
            is_first
        };
        if is_first {
            let written = self.write_superblock(|superblock| superblock.checkpoint = None).await;
            let mut state = self.state.borrow_mut();
            state.is_marking_empty = false;
            if let CacheHealth::Failed { marked_empty, .. } = &mut state.health {
                *marked_empty = written.is_ok();
            }
            drop(state);
            self.changed.notify();
        }
        self.failure_ends().await;
    }

    /// Waits while failed flash is being marked as empty.
    pub(super) async fn failure_ends(&self) {
        self.changed.until(|| !self.state.borrow().is_marking_empty).await;
    }
}
