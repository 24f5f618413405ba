//! Requests in flight, by number: they come and go too often for a map.

/// Identifies a request of the host.
pub(crate) type HostToken = u64;

/// Values by number; numbers are reused.
pub(crate) struct SlotTable<T> {
    values: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Default for SlotTable<T> {
    fn default() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }
}

impl<T> SlotTable<T> {
    pub(crate) fn put(&mut self, value: T) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.values[slot as usize] = Some(value);
            return slot;
        }
        self.values.push(Some(value));
        u32::try_from(self.values.len() - 1).expect("invariant: few are under way at a time")
    }

    pub(crate) fn get(&self, slot: u32) -> &T {
        self.values[slot as usize].as_ref().expect("invariant: a slot in use")
    }

    pub(crate) fn get_mut(&mut self, slot: u32) -> &mut T {
        self.values[slot as usize].as_mut().expect("invariant: a slot in use")
    }

    pub(crate) fn take(&mut self, slot: u32) -> T {
        self.free.push(slot);
        self.values[slot as usize].take().expect("invariant: a slot in use")
    }
}
