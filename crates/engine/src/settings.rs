//! What a database may be told when it is opened; the defaults are those of the field.

use units::{Bytes, Nanos};

/// Settings of one open database. [`Settings::default`] gives what mail servers use.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The cache never shrinks below this.
    pub cache_minimum: Bytes,
    /// The cache never keeps more than this, except for pages that running operations hold.
    pub cache_maximum: Bytes,
    /// How much log may separate the oldest unwritten change from the log's end (ESE
    /// `JET_paramCheckpointDepthMax`).
    pub checkpoint_depth: Bytes,
    /// Eviction starts when free pages fall below this share of the cache maximum (ESE
    /// `JET_paramStartFlushThreshold`, 1 %).
    pub start_flush_percent: f64,
    /// Eviction stops when free pages reach this share of the cache maximum (ESE
    /// `JET_paramStopFlushThreshold`, 2 %).
    pub stop_flush_percent: f64,
    /// Longest run of neighbouring pages written with one request.
    pub longest_write: Bytes,
    /// How many page writes the checkpoint keeps in flight.
    pub checkpoint_writes: usize,
    /// Pause between two reads of the background maintenance scan; none switches it off.
    pub maintenance_pause: Option<Nanos>,
    /// Length of one read of the maintenance scan.
    pub maintenance_read: Bytes,
    /// Whether log generations below the checkpoint are removed.
    pub circular_log: bool,
    /// Whether the first change of a page since it was written carries the whole page in the log,
    /// so that recovery can repair a page that a power failure tore. ESE does not do so and relies
    /// on storage that writes pages whole; it makes the log many times larger.
    pub log_whole_pages: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            cache_minimum: Bytes::from_mib(32),
            cache_maximum: Bytes::from_mib(256),
            checkpoint_depth: Bytes::from_mib(20),
            start_flush_percent: 1.0,
            stop_flush_percent: 2.0,
            longest_write: Bytes::from_kib(512),
            checkpoint_writes: 16,
            maintenance_pause: None,
            maintenance_read: Bytes::from_kib(256),
            circular_log: true,
            log_whole_pages: false,
        }
    }
}
