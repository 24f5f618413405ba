//! A histogram as stored in a journal: base64 of the V2 deflate form of `HdrHistogram`, so that
//! other tools can read it.

use std::cell::RefCell;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::{Decompress, FlushDecompress, Status};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};

use super::HistogramError;
use super::buckets::{Buckets, HIGHEST_NS, LOWEST_NS, SIGNIFICANT_DIGITS};

/// The first bytes of the deflate form and of its content.
const DEFLATED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
/// Header before the deflated bytes: the magic number and their count.
const DEFLATED_HEADER: usize = 8;
/// Header before the counts: magic number, length, offset, digits, lowest, highest, ratio.
const PLAIN_HEADER: usize = 40;
/// Maximum length of a histogram of our range: nine bytes per bucket.
const LONGEST: usize = 1 << 18;

/// The text of these buckets.
pub(super) fn encode(buckets: &Buckets) -> String {
    let mut whole = Histogram::<u64>::new_with_bounds(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)
        .expect("invariant: the bounds are constants that the library accepts");
    for bucket in buckets.iter() {
        whole.saturating_record_n(bucket.lowest_ns, bucket.count);
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(&whole, &mut bytes)
        .expect("invariant: writing to memory does not fail");
    BASE64_STANDARD.encode(bytes)
}

/// Parses the buckets from such a text.
pub(super) fn decode(text: &str) -> Result<Buckets, HistogramError> {
    let packed = BASE64_STANDARD
        .decode(text)
        .map_err(|error| HistogramError::NotBase64(error.to_string()))?;
    INFLATER.with_borrow_mut(|inflater| plain(inflater.inflated(body(&packed)?)?))
}

/// Parses the buckets from the inflated form.
fn plain(bytes: &[u8]) -> Result<Buckets, HistogramError> {
    let (header, counts) =
        bytes.split_at_checked(PLAIN_HEADER).ok_or_else(|| wrong("it ends inside its header"))?;
    if word(header, 0) != PLAIN || word(header, 8) != 0 {
        return Err(wrong("its header is of another form"));
    }
    let digits = u8::try_from(word(header, 12)).unwrap_or(u8::MAX);
    let found = (long(header, 16), long(header, 24), digits);
    if found != (LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS) {
        return Err(HistogramError::OtherRange { found });
    }
    let length = usize::try_from(word(header, 4)).unwrap_or(usize::MAX);
    let counts = counts.get(..length).ok_or_else(|| wrong("it ends inside its counts"))?;
    unpack(counts)
}

/// The deflated bytes after the header.
fn body(packed: &[u8]) -> Result<&[u8], HistogramError> {
    let body = packed.get(DEFLATED_HEADER..).ok_or_else(|| wrong("it ends inside its header"))?;
    if word(packed, 0) != DEFLATED {
        return Err(wrong("it is not in the deflate form"));
    }
    let length = usize::try_from(word(packed, 4)).unwrap_or(usize::MAX);
    body.get(..length).ok_or_else(|| wrong("it ends inside its counts"))
}

thread_local! {
    /// Reused for every histogram: allocating one takes longer than inflating a few hundred bytes.
    static INFLATER: RefCell<Inflater> = RefCell::new(Inflater {
        state: Decompress::new(true),
        bytes: vec![0; LONGEST],
    });
}

struct Inflater {
    state: Decompress,
    bytes: Vec<u8>,
}

impl Inflater {
    fn inflated(&mut self, body: &[u8]) -> Result<&[u8], HistogramError> {
        self.state.reset(true);
        match self.state.decompress(body, &mut self.bytes, FlushDecompress::Finish) {
            Ok(Status::StreamEnd) => {
                let length = usize::try_from(self.state.total_out()).unwrap_or(LONGEST);
                Ok(&self.bytes[..length])
            }
            Ok(_) => Err(wrong("it ends inside its counts")),
            Err(error) => Err(wrong(&error.to_string())),
        }
    }
}

/// Reads the counts in bucket order; a negative number skips that many empty buckets.
fn unpack(mut counts: &[u8]) -> Result<Buckets, HistogramError> {
    let (mut buckets, mut index) = (Buckets::default(), 0_usize);
    while !counts.is_empty() {
        let number = number(&mut counts).ok_or_else(|| wrong("it ends inside a count"))?;
        let magnitude = (number >> 1) ^ (number & 1).wrapping_neg();
        let empty = magnitude.cast_signed() < 0;
        if empty {
            let skipped = usize::try_from(magnitude.wrapping_neg()).unwrap_or(usize::MAX);
            index = index.saturating_add(skipped);
        } else if buckets.push(index, magnitude) {
            index += 1;
        } else {
            return Err(wrong("it has more counts than buckets"));
        }
    }
    Ok(buckets)
}

/// Takes a LEB128 number off the front; all eight bits of its ninth byte count.
fn number(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..9 {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        if place == 8 || byte & 0x80 == 0 {
            return Some(value | u64::from(byte) << (7 * place));
        }
        value |= u64::from(byte & 0x7f) << (7 * place);
    }
    None
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_be_bytes(bytes.expect("invariant: four bytes"))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..at + 8].try_into();
    u64::from_be_bytes(bytes.expect("invariant: eight bytes"))
}

fn wrong(why: &str) -> HistogramError {
    HistogramError::NotBuckets(why.to_owned())
}
