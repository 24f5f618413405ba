//! Reads the run's last interval from its journal, for observers of the fleet.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use fleet::LiveLoad;
use record::codec::JournalPieces;
use record::{Event, JOURNAL};

use super::child::record_folder;

/// Bytes read at a time: an agent that adopts a long run catches up in steps.
const PIECE_BYTES: u64 = 4 << 20;

/// Reads the current load of a run from its journal.
#[derive(Default)]
pub(super) struct LoadGauge {
    journal: PathBuf,
    offset: u64,
    pieces: JournalPieces,
    load: Option<LiveLoad>,
}

impl LoadGauge {
    /// Follows the run in `folder`, unless it is followed already.
    pub(super) fn follow(&mut self, folder: &Path) {
        let journal = record_folder(folder).join(JOURNAL);
        if self.journal != journal {
            *self = Self { journal, ..Self::default() };
        }
    }

    /// Returns the load of its last interval; `None` before the first.
    pub(super) fn read(&mut self) -> Option<LiveLoad> {
        let piece = self.piece().unwrap_or_default();
        self.offset += piece.len() as u64;
        for event in self.pieces.take(&piece) {
            if let Event::Interval(interval) = event {
                self.load = Some(LiveLoad::of(&interval));
            }
        }
        self.load
    }

    fn piece(&self) -> std::io::Result<Vec<u8>> {
        let mut file = File::open(&self.journal)?;
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(PIECE_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use record::Event;
    use record::codec::encode;
    use record::synthetic::Synthetic;

    use super::LoadGauge;

    #[test]
    fn the_last_interval_counts_once_its_line_is_whole() {
        let folder = std::env::temp_dir().join(format!("plimsoll-gauge-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("record")).expect("a folder");
        let mut gauge = LoadGauge::default();
        gauge.follow(&folder);
        assert_eq!(gauge.read(), None);
        let mut file = std::fs::File::create(folder.join("record/record.jsonl")).expect("a file");
        let events = Synthetic::default().events();
        let intervals = events.iter().filter(|of| matches!(of, Event::Interval(_)));
        let lines: Vec<String> = intervals.map(encode).collect();
        file.write_all(lines[0].as_bytes()).expect("a line");
        let first = gauge.read().expect("a load");
        let (half, rest) = lines[1].split_at(lines[1].len() / 2);
        file.write_all(half.as_bytes()).expect("half a line");
        assert_eq!(gauge.read(), Some(first));
        file.write_all(rest.as_bytes()).expect("the rest");
        assert_ne!(gauge.read(), Some(first));
        gauge.follow(&folder);
        assert!(gauge.read().is_some(), "it is followed already");
        std::fs::remove_dir_all(&folder).expect("the folder goes");
    }
}
