//! Finds the existing files of a stream: which generations exist, and which stream they belong to.

use std::collections::BTreeSet;

use device::{FileEntry, OpenMode, Purpose, Request};
use ese::log_file::{
    LOG_FILE_BYTES, LogHeader, SegmentHeader, accumulate, header_share, stored_checksum,
};
use ese::{Lgpos, LogTime};
use units::Generation;

use crate::{LogError, LogFolder, LogIdentity};

/// Bytes of one read of a log file.
const READ_BYTES: usize = 256 << 10;

/// End of a stream, as needed to start its next generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The last generation.
    pub generation: Generation,
    /// Its last whole segment; anything after it was torn by a crash or never written.
    pub last_segment: u16,
    /// Its accumulated checksum up to there.
    pub sum: u64,
    /// When it came into use.
    pub created: LogTime,
    /// The checkpoint in its header.
    pub checkpoint: Lgpos,
}

impl LogEnd {
    /// The end of a stream that has no file yet.
    pub(crate) const fn before_the_first() -> Self {
        Self {
            generation: Generation(0),
            last_segment: 0,
            sum: 0,
            created: LogTime::NEVER,
            checkpoint: Lgpos::NONE,
        }
    }

    /// Whether a last generation exists.
    pub(crate) const fn is_some(&self) -> bool {
        self.generation.0 != 0
    }

    /// The first position after the end.
    pub const fn place(&self) -> Lgpos {
        Lgpos { generation: self.generation, segment: self.last_segment + 1, byte: 0 }
    }
}

/// The files of one stream, whose headers confirm that they belong together.
pub struct LogChain {
    folder: LogFolder,
    identity: LogIdentity,
    closed: BTreeSet<Generation>,
    last: Generation,
    /// Name of the file that holds the last generation.
    last_file: String,
}

/// A generation whose segments have been checked.
pub(crate) struct LogFile {
    pub header: LogHeader,
    pub last_segment: u16,
    pub sum: u64,
    bytes: Vec<u8>,
}

impl LogFile {
    /// A checked segment; bytes after the last one are never read.
    pub(crate) fn segment(&self, index: u16) -> &[u8] {
        let bytes = self.header.segment_size.bytes();
        &self.bytes[usize::from(index) * bytes..][..bytes]
    }
}

impl LogChain {
    /// Finds the files of a stream; `None` if there is no log file at all.
    ///
    /// A crash between the two renames of a roll leaves the current file under the name of the next
    /// one; its header, durable before the first rename, identifies it.
    pub async fn find(folder: &LogFolder) -> Result<Option<Self>, LogError> {
        let names = &folder.names;
        let files = folder.volume.list().await?;
        let closed: BTreeSet<_> =
            files.iter().filter_map(|entry| names.closed_generation(&entry.name)).collect();
        let highest = closed.last().copied();
        let (last_file, header) = if has(&files, &names.current()) {
            let file = names.current();
            let header = folder.header(&file).await?;
            if highest.is_some_and(|highest| highest >= header.generation) {
                let (file, holds) = (folder.path(&file), header.generation);
                return Err(LogError::Misplaced { file, holds });
            }
            (file, header)
        } else if let Some(highest) = highest {
            let promoted = if has(&files, &names.next()) {
                folder.header(&names.next()).await.ok()
            } else {
                None
            };
            match promoted.filter(|header| header.generation == highest.next()) {
                Some(header) => (names.next(), header),
                None => (names.closed(highest), folder.header(&names.closed(highest)).await?),
            }
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            folder: folder.clone(),
            identity: LogIdentity {
                page_size: header.page_size,
                signature: header.signature,
                database: header.database,
            },
            closed,
            last: header.generation,
            last_file,
        }))
    }

    /// Identity of the log, according to the last file.
    pub const fn identity(&self) -> &LogIdentity {
        &self.identity
    }

    /// First and last generation found; there may be gaps between them.
    pub fn found(&self) -> (Generation, Generation) {
        (self.closed.first().map_or(self.last, |first| *first.min(&self.last)), self.last)
    }

    /// Refuses a log that belongs to another stream or database.
    pub fn require_identity(&self, wanted: &LogIdentity) -> Result<(), LogError> {
        require_same(&self.folder, &self.last_file, wanted, &self.identity)
    }

    /// Returns an error if a generation from `first` to `last` is missing.
    pub fn require(&self, first: Generation, last: Generation) -> Result<(), LogError> {
        let missing = (first.0..=last.0).map(Generation).find(|generation| !self.has(*generation));
        match missing {
            None => Ok(()),
            Some(missing) => Err(LogError::Missing {
                folder: self.folder.name().to_owned(),
                needed: (first, last),
                found: Some(self.found()),
                missing,
            }),
        }
    }

    /// The end of the stream.
    pub async fn end(&self) -> Result<LogEnd, LogError> {
        let file = self.load(self.last).await?;
        Ok(Self::end_of(&file))
    }

    pub(crate) fn end_of(file: &LogFile) -> LogEnd {
        LogEnd {
            generation: file.header.generation,
            last_segment: file.last_segment,
            sum: file.sum,
            created: file.header.created,
            checkpoint: file.header.checkpoint,
        }
    }

    pub(crate) const fn last(&self) -> Generation {
        self.last
    }

    pub(crate) const fn folder(&self) -> &LogFolder {
        &self.folder
    }

    fn has(&self, generation: Generation) -> bool {
        generation == self.last || (generation < self.last && self.closed.contains(&generation))
    }

    fn file_name(&self, generation: Generation) -> String {
        if generation == self.last {
            self.last_file.clone()
        } else {
            self.folder.names.closed(generation)
        }
    }

    /// Reads a generation and checks it: against the header of the next one if that exists, else to
    /// find its end.
    pub(crate) async fn load(&self, generation: Generation) -> Result<LogFile, LogError> {
        self.require(generation, generation)?;
        let name = self.file_name(generation);
        let bytes = self.read_file(&name).await?;
        let header_bytes = bytes.first_chunk().expect("invariant: a whole file was read");
        let header = LogHeader::decode(header_bytes)
            .map_err(|problem| LogError::Header { file: self.folder.path(&name), problem })?;
        self.require_place(&name, &header, generation)?;
        let mut file = LogFile {
            header,
            last_segment: header.segment_size.first() - 1,
            sum: accumulate(0, header_share(header_bytes)),
            bytes,
        };
        if generation == self.last {
            self.count_whole_segments(&mut file, u16::MAX);
            self.require_torn_tail(&name, &file)?;
        } else {
            self.require_followed_by_next(&name, &mut file).await?;
        }
        Ok(file)
    }

    async fn read_file(&self, name: &str) -> Result<Vec<u8>, LogError> {
        let device = self.folder.volume.open(name, OpenMode::ReadOnly).await?;
        if device.length() != LOG_FILE_BYTES {
            let (file, bytes) = (self.folder.path(name), device.length());
            return Err(LogError::Length { file, bytes });
        }
        let mut bytes = Vec::new();
        let reads: Vec<_> = (0..LOG_FILE_BYTES)
            .step_by(READ_BYTES)
            .map(|offset| device.submit(Request::read(Purpose::LogRead, offset, READ_BYTES)))
            .collect();
        for read in reads {
            bytes.extend_from_slice(&read.await.into_buffer()?);
        }
        Ok(bytes)
    }

    fn require_place(
        &self,
        name: &str,
        header: &LogHeader,
        generation: Generation,
    ) -> Result<(), LogError> {
        if header.generation != generation {
            let (file, holds) = (self.folder.path(name), header.generation);
            return Err(LogError::Misplaced { file, holds });
        }
        let found = LogIdentity {
            page_size: header.page_size,
            signature: header.signature,
            database: header.database,
        };
        require_same(&self.folder, name, &self.identity, &found)
    }

    fn open_segment(&self, file: &LogFile, index: u16) -> Option<SegmentHeader> {
        let stream = self.identity.signature.random;
        SegmentHeader::open(file.segment(index), file.header.generation, index, stream)
    }

    fn count_whole_segments(&self, file: &mut LogFile, limit: u16) {
        let size = file.header.segment_size;
        for index in size.first()..=limit.min(size.per_file() - 1) {
            if self.open_segment(file, index).is_none() {
                return;
            }
            file.sum = accumulate(file.sum, stored_checksum(file.segment(index)));
            file.last_segment = index;
        }
    }

    /// The last generation may end with the remains of one torn write. A whole segment of a later
    /// write proves that the bad one was once acknowledged.
    fn require_torn_tail(&self, name: &str, file: &LogFile) -> Result<(), LogError> {
        let bad = file.last_segment + 1;
        for index in bad + 1..file.header.segment_size.per_file() {
            if let Some(later) = self.open_segment(file, index)
                && later.write_first > bad
            {
                return Err(self.bad_segment(name, file, bad));
            }
        }
        Ok(())
    }

    /// Checks that a closed generation holds every segment recorded in the next one's header.
    async fn require_followed_by_next(
        &self,
        name: &str,
        file: &mut LogFile,
    ) -> Result<(), LogError> {
        let next_generation = file.header.generation.next();
        self.require(next_generation, next_generation)?;
        let next_name = self.file_name(next_generation);
        let next = self.folder.header(&next_name).await?;
        self.require_place(&next_name, &next, next_generation)?;
        self.count_whole_segments(file, next.previous_last);
        if file.last_segment < next.previous_last {
            return Err(self.bad_segment(name, file, file.last_segment + 1));
        }
        if file.sum == next.previous_checksum {
            return Ok(());
        }
        let generation = file.header.generation;
        let file = self.folder.path(name);
        Err(LogError::PreviousChecksum { file, generation })
    }

    fn bad_segment(&self, name: &str, file: &LogFile, segment: u16) -> LogError {
        LogError::BadSegment {
            file: self.folder.path(name),
            generation: file.header.generation,
            segment,
        }
    }
}

fn has(files: &[FileEntry], name: &str) -> bool {
    files.iter().any(|entry| entry.name == name)
}

/// Refuses a file that claims to belong to another stream or database.
fn require_same(
    folder: &LogFolder,
    file: &str,
    wanted: &LogIdentity,
    found: &LogIdentity,
) -> Result<(), LogError> {
    let pairs = [(wanted.database, found.database), (wanted.signature, found.signature)];
    match pairs.into_iter().find(|(wanted, found)| wanted != found) {
        None => Ok(()),
        Some((wanted, found)) => Err(LogError::Foreign { file: folder.path(file), wanted, found }),
    }
}
