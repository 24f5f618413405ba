//! Limits set by a seller of storage: requests and bytes per second, with some unused allowance
//! carried over.

use crate::disk::{VirtualMoment, micros};

/// Permitted rates; zero for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LimitParameters {
    /// Requests per second.
    pub requests: f64,
    /// Longer requests count as several requests of this many bytes.
    pub request_bytes: u64,
    /// Bytes per microsecond.
    pub rate: f64,
    /// Microseconds for which unused requests and bytes are saved up.
    pub burst: f64,
}

/// Lets requests pass at the permitted rate, in order of arrival.
pub(crate) struct RateLimit {
    parameters: LimitParameters,
    /// End of the allowance used up so far, of requests and of bytes.
    requests: VirtualMoment,
    bytes: VirtualMoment,
}

impl RateLimit {
    pub(crate) const fn new(parameters: LimitParameters) -> Self {
        Self { parameters, requests: 0, bytes: 0 }
    }

    /// When a request that arrives now may pass.
    pub(crate) fn passes(&mut self, now: VirtualMoment, length: u64) -> VirtualMoment {
        let LimitParameters { requests, request_bytes, rate, burst } = self.parameters;
        let mut passes = now;
        if requests > 0.0 {
            let count = length.div_ceil(request_bytes.max(1)).max(1);
            let taken = micros(count as f64 * 1e6 / requests);
            passes = passes.max(taken_from(&mut self.requests, now, taken, micros(burst)));
        }
        if rate > 0.0 {
            let taken = micros(length as f64 / rate);
            passes = passes.max(taken_from(&mut self.bytes, now, taken, micros(burst)));
        }
        passes
    }
}

/// Takes an allowance that lasts for `taken`; returns the time at which it may be used.
fn taken_from(
    until: &mut VirtualMoment,
    now: VirtualMoment,
    taken: VirtualMoment,
    burst: VirtualMoment,
) -> VirtualMoment {
    let begins = (*until).max(now);
    *until = begins + taken;
    begins.saturating_sub(burst).max(now)
}

#[cfg(test)]
mod tests {
    use super::{LimitParameters, RateLimit};

    const SECOND: u64 = 1_000_000_000;

    /// The time at which the last of `count` simultaneous requests passes.
    fn last_of(parameters: LimitParameters, count: u64, length: u64) -> f64 {
        let mut limit = RateLimit::new(parameters);
        let last = (0..count).map(|_| limit.passes(0, length)).max();
        last.expect("some") as f64 / SECOND as f64
    }

    #[test]
    fn requests_and_bytes_pass_as_fast_as_is_allowed() {
        let limits =
            LimitParameters { requests: 100.0, request_bytes: 65_536, rate: 10.0, burst: 0.0 };
        assert!((last_of(limits, 1_001, 512) - 10.0).abs() < 0.01);
        // 40 MB at 10 MB a second, and a long request counts as four.
        assert!((last_of(limits, 401, 100_000) - 8.0).abs() < 0.1);
        assert!((last_of(limits, 101, 262_144) - 4.0).abs() < 0.1);
        assert!(last_of(LimitParameters::default(), 1_000, 1 << 20) == 0.0);
    }

    #[test]
    fn what_was_not_used_is_saved_up_for_a_while() {
        let (requests, request_bytes) = (100.0, 65_536);
        let limits = LimitParameters { requests, request_bytes, rate: 0.0, burst: 1e6 };
        let mut limit = RateLimit::new(limits);
        let times: Vec<u64> = (0..200).map(|_| limit.passes(60 * SECOND, 512)).collect();
        assert_eq!(times[99], 60 * SECOND, "a second is saved up, and no minute");
        assert!(times[199] > 60 * SECOND + SECOND * 9 / 10, "{}", times[199]);
    }
}
