//! Lines of a journal, decoded whole, or without their histograms: those are most of the bytes, and
//! most of the work.

use serde::Deserialize;

use crate::codec::{self, DecodeError};
use crate::{Event, FlashCacheInterval, HostSample, Phase, ProcessorShares};

/// How every interval begins, as programs write it.
const INTERVAL: &[u8] = b"{\"event\":\"interval\",";

/// An interval without its databases.
#[derive(Deserialize)]
pub(super) struct IntervalOutline {
    pub(super) phase: Phase,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) host: Option<HostSample>,
    pub(super) processors: Option<ProcessorShares>,
    pub(super) flash_cache: Option<FlashCacheInterval>,
}

/// The lines that are not empty, each with its number from 1.
pub(super) fn lines(journal: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let lines = journal.split(|&byte| byte == b'\n').zip(1..);
    lines.filter(|(text, _)| !text.trim_ascii().is_empty())
}

pub(super) fn decode(line: &[u8]) -> Result<Event, DecodeError> {
    let text = str::from_utf8(line).map_err(|error| DecodeError::NotAnEvent(error.to_string()))?;
    codec::decode(text)
}

/// The interval of a line; none if it is no interval as programs write it.
pub(super) fn outline(line: &[u8]) -> Option<IntervalOutline> {
    if line.starts_with(INTERVAL) { serde_json::from_slice(line).ok() } else { None }
}
