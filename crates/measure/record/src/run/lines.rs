//! Decodes journal lines, either whole or without their histograms, which are most of the bytes and
//! most of the work.

use serde::Deserialize;

use crate::codec::{self, DecodeError};
use crate::{Event, FlashCacheInterval, HostSample, Phase, ProcessorShares};

/// The first bytes of every interval line, as written.
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

/// The non-empty lines, numbered from 1.
pub(super) fn lines(journal: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    let lines = journal.split(|&byte| byte == b'\n').zip(1..);
    lines.filter(|(text, _)| !text.trim_ascii().is_empty())
}

pub(super) fn decode(line: &[u8]) -> Result<Event, DecodeError> {
    let text = str::from_utf8(line).map_err(|error| DecodeError::NotAnEvent(error.to_string()))?;
    codec::decode(text)
}

/// The interval of a line; `None` unless it is an interval in the written form.
pub(super) fn outline(line: &[u8]) -> Option<IntervalOutline> {
    if line.starts_with(INTERVAL) { serde_json::from_slice(line).ok() } else { None }
}
