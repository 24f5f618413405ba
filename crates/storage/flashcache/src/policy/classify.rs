//! Decides which requests are worth flash from a volume's behaviour, without configuration.

use super::log_writes::LogWrites;
use super::streams::SequentialStreams;

pub use iotrace::IoDirection;

/// What kind of traffic a request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestClass {
    /// Random page accesses: the traffic that a cache is for.
    Database,
    /// A volume of small appends that is hardly read.
    Log,
    /// A scan: backup, checksum run, copy.
    Sequential,
}

impl RequestClass {
    /// Every class, in the order of reports.
    pub const ALL: [Self; 3] = [Self::Database, Self::Log, Self::Sequential];

    /// The class in a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Log => "log",
            Self::Sequential => "sequential",
        }
    }
}

/// What to do with a request that the cache does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// Take its blocks in.
    Admit,
    /// Pass it on; blocks that are cached are still looked up.
    Bypass,
}

/// Watches one volume.
#[derive(Clone, Debug, Default)]
pub struct Classifier {
    reads: SequentialStreams,
    writes: SequentialStreams,
    log: LogWrites,
}

impl Classifier {
    /// Records a request of `length` bytes at byte `offset` and returns its class.
    pub fn classify(&mut self, access: IoDirection, offset: u64, length: u64) -> RequestClass {
        let is_scan = match access {
            IoDirection::Read => {
                self.log.read();
                self.reads.follow(offset, length).is_scan
            }
            IoDirection::Write => {
                let continuation = self.writes.follow(offset, length);
                self.log.write(continuation.follows, length);
                continuation.is_scan
            }
        };
        if self.log.is_log() {
            RequestClass::Log
        } else if is_scan {
            RequestClass::Sequential
        } else {
            RequestClass::Database
        }
    }

    /// What happens to missed blocks of this class.
    pub const fn route(class: RequestClass) -> Route {
        match class {
            RequestClass::Database => Route::Admit,
            RequestClass::Log | RequestClass::Sequential => Route::Bypass,
        }
    }
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::{Classifier, IoDirection, RequestClass};

    #[test]
    fn a_volume_of_appends_is_a_log_until_it_is_read() {
        let mut volume = Classifier::default();
        let mut classes = Vec::new();
        for step in 0..400_u64 {
            classes.push(volume.classify(IoDirection::Write, step * 4_096, 4_096));
        }
        assert_eq!(classes[0], RequestClass::Database, "one write proves nothing");
        assert!(classes[100..].iter().all(|&class| class == RequestClass::Log));
        for step in 0..200 {
            volume.classify(IoDirection::Read, step * 1_000_000, 4_096);
        }
        assert_ne!(volume.classify(IoDirection::Write, 0, 4_096), RequestClass::Log);
    }

    #[test]
    fn a_database_with_reads_and_scattered_writes_is_none() {
        let mut volume = Classifier::default();
        let mut prng = Prng::new(Seed(2));
        for step in 0..2_000 {
            let access = if step % 3 == 0 { IoDirection::Write } else { IoDirection::Read };
            let class = volume.classify(access, prng.below(1 << 20) * 32_768, 32_768);
            assert_eq!(class, RequestClass::Database);
        }
    }
}
