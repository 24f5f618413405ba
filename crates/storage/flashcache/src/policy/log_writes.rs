//! Recognises log volumes by their behaviour: small consecutive writes and hardly any reads. Their
//! content is written once and read, if ever, soon after, so writes bypass the cache.

/// Requests after which older ones count half.
const WINDOW: u32 = 512;

/// Minimum number of writes for a decision.
const FEWEST: u32 = 64;

/// Appends of more bytes than this are a copy or a fill.
const MOST_APPEND_BYTES: u64 = 1 << 20;

/// Counts the requests of one volume.
#[derive(Clone, Debug, Default)]
pub(super) struct LogWrites {
    reads: u32,
    appends: u32,
    other_writes: u32,
}

impl LogWrites {
    /// Records a read.
    pub(super) fn read(&mut self) {
        self.reads += 1;
        self.age();
    }

    /// Records a write; `follows` if it begins where another one ended.
    pub(super) fn write(&mut self, follows: bool, bytes: u64) {
        if follows && bytes <= MOST_APPEND_BYTES {
            self.appends += 1;
        } else {
            self.other_writes += 1;
        }
        self.age();
    }

    /// `true` if the volume behaves as a log: nine writes of ten are appends, and there is less
    /// than one read for ten writes.
    pub(super) const fn is_log(&self) -> bool {
        let writes = self.appends + self.other_writes;
        writes >= FEWEST && self.appends >= writes / 10 * 9 && self.reads * 10 < writes
    }

    const fn age(&mut self) {
        if self.reads + self.appends + self.other_writes >= WINDOW {
            self.reads /= 2;
            self.appends /= 2;
            self.other_writes /= 2;
        }
    }
}
