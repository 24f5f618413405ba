//! Reads traces of block devices that other tools write, as text: blkparse, fio's iologs, CSV.
//!
//! Lines that are not understood are counted by reason, never guessed.

mod answers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Bytes per blkparse sector.
const SECTOR_BYTES: u64 = 512;

/// Direction of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoDirection {
    /// A read.
    Read,
    /// A write.
    Write,
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceRequest {
    /// Nanoseconds since time zero of the trace.
    pub time: u64,
    /// Number of the trace's device or file, counted from 0.
    pub volume: u16,
    /// Read or write.
    pub direction: IoDirection,
    /// Byte offset.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

impl TraceRequest {
    /// The blocks of `block_bytes` that the request touches, numbered with the volume in the upper
    /// bits.
    pub fn blocks(&self, block_bytes: u64) -> impl Iterator<Item = u64> + use<> {
        let volume = u64::from(self.volume) << 48;
        let end = self.offset.saturating_add(self.length - 1) / block_bytes;
        (self.offset / block_bytes..=end).map(move |block| volume | block)
    }
}

/// Format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// `blkparse` without options: requests as queued, or as dispatched.
    Blkparse,
    /// fio's `write_iolog`, version 2.
    FioLog2,
    /// The same in version 3, with times.
    FioLog3,
    /// Lines with time in seconds, operation, byte offset and byte count.
    Csv,
}

impl TraceFormat {
    /// A short name of the format.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Blkparse => "blkparse text",
            Self::FioLog2 => "fio iolog version 2",
            Self::FioLog3 => "fio iolog version 3",
            Self::Csv => "CSV of time, op, offset, length",
        }
    }
}

/// Why a text is no trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// No line matches any known format.
    Unknown,
    /// The format is known, but no line is a read or a write.
    NoRequests(TraceFormat),
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(
                f,
                "no trace: pass the text of blkparse, a fio iolog of version 2 or 3, or CSV lines \
                 of time, op, offset, length"
            ),
            Self::NoRequests(format) => {
                write!(f, "{}, but no line of it is a read or a write", format.name())
            }
        }
    }
}

impl std::error::Error for TraceError {}

/// The requests of a trace, and counts of skipped lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Its format.
    pub format: TraceFormat,
    /// Its requests, in the order of its lines.
    pub requests: Vec<TraceRequest>,
    /// Names of its devices or files, by their numbers; empty if the format has none.
    pub volumes: Vec<String>,
    /// Requests whose completion is in the trace: index in `requests`, and duration in nanoseconds.
    /// Only blkparse traces have any.
    pub answers: Vec<(usize, u64)>,
    /// Number of skipped lines, by reason.
    pub skipped: BTreeMap<&'static str, u64>,
}

/// The request of a line, or the reason to skip it.
type ParsedLine = Result<TraceRequest, &'static str>;

impl Trace {
    /// Reads a trace of any known format.
    pub fn read(text: &str) -> Result<Self, TraceError> {
        let format = text.lines().find_map(format_of).ok_or(TraceError::Unknown)?;
        let mut names = VolumeNames::default();
        let mut trace = Self {
            format,
            requests: Vec::new(),
            volumes: Vec::new(),
            answers: Vec::new(),
            skipped: BTreeMap::new(),
        };
        if format == TraceFormat::Blkparse {
            // Prefer requests as queued by programs; if the trace lacks them, use dispatched ones.
            trace.take(text, |line| blkparse(line, "Q", &mut names));
            if trace.requests.is_empty() {
                trace.skipped.clear();
                trace.take(text, |line| blkparse(line, "D", &mut names));
            }
            let completed = text.lines().filter_map(|line| blkparse(line, "C", &mut names).ok());
            trace.answers = answers::answers(&trace.requests, completed);
        } else {
            trace.take(text, |line| match format {
                TraceFormat::FioLog2 => fio(line, 0, &mut names),
                TraceFormat::FioLog3 => fio(line, 1, &mut names),
                _ => csv(line),
            });
        }
        if trace.requests.is_empty() {
            return Err(TraceError::NoRequests(format));
        }
        trace.volumes = names.listed();
        Ok(trace)
    }

    /// Number of distinct blocks that the trace touches.
    pub fn footprint_blocks(&self, block_bytes: u64) -> u64 {
        let requests = &self.requests;
        let blocks: BTreeSet<u64> =
            requests.iter().flat_map(|request| request.blocks(block_bytes)).collect();
        blocks.len() as u64
    }

    /// Nanoseconds from the first request to the last; `None` if all have the same time, as in a
    /// trace without times.
    pub fn span_ns(&self) -> Option<u64> {
        let first = self.requests.iter().map(|request| request.time).min()?;
        let last = self.requests.iter().map(|request| request.time).max()?;
        (last > first).then_some(last - first)
    }

    fn take(&mut self, text: &str, mut parse: impl FnMut(&str) -> ParsedLine) {
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            match parse(line) {
                Ok(request) if request.length > 0 => self.requests.push(request),
                Ok(_) => *self.skipped.entry("requests of no bytes").or_default() += 1,
                Err(reason) => *self.skipped.entry(reason).or_default() += 1,
            }
        }
    }
}

fn format_of(line: &str) -> Option<TraceFormat> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["fio", "version", "2", "iolog"] => return Some(TraceFormat::FioLog2),
        ["fio", "version", "3", "iolog"] => return Some(TraceFormat::FioLog3),
        _ => {}
    }
    if csv(line).is_ok() {
        return Some(TraceFormat::Csv);
    }
    let is_device = words.first().is_some_and(|word| device(word).is_some());
    (is_device && words.len() >= 7).then_some(TraceFormat::Blkparse)
}

/// Names of devices or files, numbered in order of appearance.
#[derive(Default)]
struct VolumeNames(BTreeMap<String, u16>);

impl VolumeNames {
    fn number(&mut self, name: &str) -> u16 {
        let next = u16::try_from(self.0.len()).unwrap_or(u16::MAX);
        *self.0.entry(name.to_owned()).or_insert(next)
    }

    /// All names, in the order of their numbers.
    fn listed(self) -> Vec<String> {
        let mut names: Vec<(u16, String)> =
            self.0.into_iter().map(|(name, at)| (at, name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name).collect()
    }
}

/// Parses `8,0`.
fn device(word: &str) -> Option<(u32, u32)> {
    let (major, minor) = word.split_once(',')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Parses `8,0 1 1 0.000000000 697 Q WS 223490 + 8 [kjournald]`.
fn blkparse(line: &str, wanted: &str, names: &mut VolumeNames) -> ParsedLine {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, _, _, time, _, action, kind, rest @ ..] = &words[..] else {
        return Err("lines of a summary, or cut off");
    };
    if device(name).is_none() {
        return Err("lines of a summary, or cut off");
    }
    if *action != wanted {
        return Err("other actions of the same requests");
    }
    let direction = match kind.chars().find(|letter| "RWD".contains(*letter)) {
        Some('R') => IoDirection::Read,
        Some('W') => IoDirection::Write,
        Some('D') => return Err("discards"),
        _ => return Err("flushes and others without bytes"),
    };
    let [sector, "+", sectors, ..] = rest else {
        return Err("requests without a place");
    };
    let [Some(sector), Some(sectors)] = [sector, sectors].map(|word| word.parse::<u64>().ok())
    else {
        return Err("requests without a place");
    };
    Ok(TraceRequest {
        time: nanoseconds(time).ok_or("lines with an impossible time")?,
        volume: names.number(name),
        direction,
        offset: sector.checked_mul(SECTOR_BYTES).ok_or("requests beyond 2^64 bytes")?,
        length: sectors.checked_mul(SECTOR_BYTES).ok_or("requests beyond 2^64 bytes")?,
    })
}

/// Parses `[milliseconds] file action [offset length]`.
fn fio(line: &str, times: usize, names: &mut VolumeNames) -> ParsedLine {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() == Some(&"fio") {
        return Err("headers");
    }
    let (time, words) = words.split_at(times.min(words.len()));
    let [name, action, place @ ..] = words else {
        return Err("lines that are cut off");
    };
    let direction = match *action {
        "read" => IoDirection::Read,
        "write" => IoDirection::Write,
        "trim" => return Err("discards"),
        "sync" | "datasync" | "sync_file_range" => return Err("flushes and others without bytes"),
        "add" | "open" | "close" | "wait" => return Err("lines that open, close or wait"),
        _ => return Err("unknown actions"),
    };
    let numbers = place.iter().map(|word| word.parse::<u64>().ok()).collect::<Option<Vec<_>>>();
    let Some([offset, length]) = numbers.as_deref() else {
        return Err("requests without a place");
    };
    let time = time.first().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Ok(TraceRequest {
        time: time.saturating_mul(1_000_000),
        volume: names.number(name),
        direction,
        offset: *offset,
        length: *length,
    })
}

/// Parses `0.25,R,4096,8192`.
fn csv(line: &str) -> ParsedLine {
    let mut fields = line.split(',').map(str::trim);
    let mut next = || fields.next().ok_or("lines that are no request");
    let (time, op, offset, length) = (next()?, next()?, next()?, next()?);
    let direction = match op.to_ascii_lowercase().as_str() {
        "r" | "read" => IoDirection::Read,
        "w" | "write" => IoDirection::Write,
        _ => return Err("lines that are no read or write"),
    };
    let place = offset.parse().ok().zip(length.parse().ok());
    let (offset, length) = place.ok_or("requests without a place")?;
    let time = nanoseconds(time).ok_or("lines with an impossible time")?;
    Ok(TraceRequest { time, volume: 0, direction, offset, length })
}

/// Parses decimal seconds exactly into nanoseconds.
fn nanoseconds(seconds: &str) -> Option<u64> {
    let (whole, part) = seconds.split_once('.').unwrap_or((seconds, ""));
    let digits: String = part.chars().chain("000000000".chars()).take(9).collect();
    let whole: u64 = whole.parse().ok()?;
    whole.checked_mul(1_000_000_000)?.checked_add(digits.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::IoDirection::{Read, Write};
    use super::{Trace, TraceError, TraceFormat, TraceRequest};

    fn request(time: u64, direction: super::IoDirection, offset: u64, length: u64) -> TraceRequest {
        TraceRequest { time, volume: 0, direction, offset, length }
    }

    #[test]
    fn blkparse_gives_queued_requests_and_counts_the_rest() {
        let text = "\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     1.500000000   697  Q  RA 64 + 16 [cat]
  8,0    3        4     1.600000000   697  Q  FN [fsync]
  8,0    3        5     1.700000000   697  Q   D 0 + 64 [fstrim]
CPU3 (8,0):
 Reads Queued:           1,        8KiB";
        let trace = Trace::read(text).unwrap();
        assert_eq!(trace.format, TraceFormat::Blkparse);
        let expected =
            [request(0, Write, 223_490 * 512, 4_096), request(1_500_000_000, Read, 32_768, 8_192)];
        assert_eq!(trace.requests, expected);
        assert_eq!(trace.skipped.values().sum::<u64>(), 5);
        assert_eq!(trace.skipped["discards"], 1);
    }

    #[test]
    fn fio_logs_of_both_versions_are_read() {
        let two = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a read 4096 8192\n\
                   /dev/a wait 5 0\n/dev/a sync 0 0\n/dev/a write 0 512\n/dev/a close";
        let trace = Trace::read(two).unwrap();
        assert_eq!(trace.requests, [request(0, Read, 4_096, 8_192), request(0, Write, 0, 512)]);
        assert_eq!(trace.skipped["lines that open, close or wait"], 4);
        let three = "fio version 3 iolog\n0 a add\n7 a read 0 4096\n9 b write 1 2\n9 b read x y";
        let trace = Trace::read(three).unwrap();
        assert_eq!(trace.requests[0], request(7_000_000, Read, 0, 4_096));
        assert_eq!(trace.requests[1].volume, 1);
        assert_eq!(trace.skipped["requests without a place"], 1);
    }

    #[test]
    fn csv_may_have_a_header_and_bad_lines() {
        let text = "time,op,offset,length\n0.25,R,4096,8192\n1,w,0,512\nx,r,0,1\n2,erase,0,1\n3,r";
        let trace = Trace::read(text).unwrap();
        let expected =
            [request(250_000_000, Read, 4_096, 8_192), request(1_000_000_000, Write, 0, 512)];
        assert_eq!(trace.requests, expected);
        assert_eq!(trace.skipped.values().sum::<u64>(), 4);
    }

    #[test]
    fn other_text_is_refused() {
        assert_eq!(Trace::read("hello\nworld"), Err(TraceError::Unknown));
        assert_eq!(Trace::read(""), Err(TraceError::Unknown));
        let empty = Trace::read("fio version 2 iolog\na add");
        assert_eq!(empty, Err(TraceError::NoRequests(TraceFormat::FioLog2)));
    }
}
