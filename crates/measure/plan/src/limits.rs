//! Criteria of a run: the limits of each kind of test, and those of the document.

use units::{Bytes, Nanos};

use crate::bounds::{Quantity, within};
use crate::complaint::Complaint;
use crate::low;
use crate::reader::{Given, given};

/// The latency limits for a pass. The values come from the original tool's configuration, except
/// for the longest request, which it did not judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Average of database reads, over the measured time.
    pub read_average: Nanos,
    /// Largest average of database reads in any sample.
    pub read_maximum: Nanos,
    /// Mean log write latency over the measured time.
    pub log_write_average: Nanos,
    /// Largest average of log writes in any sample.
    pub log_write_maximum: Nanos,
    /// Limit for any single request of any kind.
    pub longest_request: Nanos,
    /// Limit for the 99th percentile of database reads over the measured time; `None`: not judged.
    pub read_p99: Option<Nanos>,
    /// Limit for the 99th percentile of log writes over the measured time; `None`: not judged.
    pub log_write_p99: Option<Nanos>,
    /// Minimum bytes per second of each database in a backup or checksum test; `None`: not judged.
    pub read_rate: Option<Bytes>,
    /// Limit for the average time per log file, of each database in a recovery test; `None`: not
    /// judged.
    pub replay: Option<Nanos>,
}

impl Limits {
    /// `Strict`: read 20/100 ms, log write 10/100 ms.
    pub const STRICT: Self = Self {
        read_average: Nanos::from_millis(20),
        read_maximum: Nanos::from_millis(100),
        log_write_average: Nanos::from_millis(10),
        log_write_maximum: Nanos::from_millis(100),
        longest_request: Nanos::from_secs(5),
        read_p99: None,
        log_write_p99: None,
        read_rate: None,
        replay: None,
    };

    /// `Lenient`, for stress tests: read 20/200 ms, log write 10/200 ms.
    pub const LENIENT: Self = Self {
        read_maximum: Nanos::from_millis(200),
        log_write_maximum: Nanos::from_millis(200),
        ..Self::STRICT
    };

    /// The limits that the document gives, the others being `default`.
    pub(crate) fn from_low(
        low: &low::Limits,
        default: Self,
        complaints: &mut Vec<Complaint>,
    ) -> Self {
        let shortest = Nanos::from_micros(1);
        let requests = (shortest, Nanos::from_secs(60));
        let [read_average, read_maximum, log_write_average, log_write_maximum, longest_request] = [
            (&low.read_average, default.read_average),
            (&low.read_maximum, default.read_maximum),
            (&low.log_write_average, default.log_write_average),
            (&low.log_write_maximum, default.log_write_maximum),
            (&low.longest_request, default.longest_request),
        ]
        .map(|(given, default)| within(complaints, given.as_ref(), default, requests));
        Self {
            read_average,
            read_maximum,
            log_write_average,
            log_write_maximum,
            longest_request,
            read_p99: if_given(low.read_p99.as_ref(), requests, complaints),
            log_write_p99: if_given(low.log_write_p99.as_ref(), requests, complaints),
            read_rate: if_given(
                low.read_rate.as_ref(),
                (Bytes(1), Bytes::from_gib(1024)),
                complaints,
            ),
            replay: if_given(low.replay.as_ref(), (shortest, Nanos::from_secs(3600)), complaints),
        }
    }

    /// The section of the document that gives these limits.
    pub(crate) fn to_low(self) -> low::Limits {
        low::Limits {
            read_average: Some(given(self.read_average)),
            read_maximum: Some(given(self.read_maximum)),
            log_write_average: Some(given(self.log_write_average)),
            log_write_maximum: Some(given(self.log_write_maximum)),
            longest_request: Some(given(self.longest_request)),
            read_p99: self.read_p99.map(given),
            log_write_p99: self.log_write_p99.map(given),
            read_rate: self.read_rate.map(given),
            replay: self.replay.map(given),
        }
    }
}

/// A limit that is judged only if the document sets it.
fn if_given<T: Quantity + Copy>(
    limit: Option<&Given<T>>,
    bounds: (T, T),
    complaints: &mut Vec<Complaint>,
) -> Option<T> {
    limit.map(|given| within(complaints, Some(given), given.value, bounds))
}
