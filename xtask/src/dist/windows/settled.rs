//! Replaces the GUID and the times that `wixl` generates anew for every installer by values derived
//! from the content.

use std::time::{SystemTime, UNIX_EPOCH};

use xtask::failure::Failure;

/// Length of a GUID with dashes and braces.
const NUMBER: usize = 38;

/// Type tag in front of each time in the installer's summary.
const IS_TIME: [u8; 4] = [0x40, 0, 0, 0];

/// Time from 1601 to 1970 in hundreds of nanoseconds.
const TO_1970: u64 = 116_444_736_000_000_000;

/// A time this close to now was set by this build: an hour, in hundreds of nanoseconds.
const NEAR: u64 = 36_000_000_000;

/// Replaces the only GUID that is not in `known` by the first of `known`, and both times by
/// `epoch`, in seconds since 1970.
pub(super) fn settle(installer: &mut [u8], known: &[&str], epoch: u64) -> Result<(), Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Failure::of)?.as_secs();
    let is_unknown = |bytes: &[u8]| {
        is_number(bytes) && !known.iter().any(|of| of.as_bytes() == &bytes[1..NUMBER - 1])
    };
    let numbers = places(installer, NUMBER, is_unknown);
    let is_new = |bytes: &[u8]| {
        bytes.strip_prefix(&IS_TIME).is_some_and(|time| of_bytes(time).abs_diff(ticks(now)) < NEAR)
    };
    let times = places(installer, IS_TIME.len() + 8, is_new);
    if numbers.len() != 1 || times.len() != 2 {
        let (numbers, times) = (numbers.len(), times.len());
        return Err(Failure::new(format!(
            "the installer has {numbers} numbers and {times} times, not 1 and 2"
        )));
    }
    for at in numbers {
        installer[at..at + NUMBER].copy_from_slice(format!("{{{}}}", known[0]).as_bytes());
    }
    for at in times {
        let at = at + IS_TIME.len();
        installer[at..at + 8].copy_from_slice(&ticks(epoch).to_le_bytes());
    }
    Ok(())
}

fn ticks(seconds: u64) -> u64 {
    seconds * 10_000_000 + TO_1970
}

fn of_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// Offsets at which the next `length` bytes match `is_it`.
fn places(bytes: &[u8], length: usize, is_it: impl Fn(&[u8]) -> bool) -> Vec<usize> {
    let windows = bytes.windows(length).enumerate();
    windows.filter(|(_, window)| is_it(window)).map(|(at, _)| at).collect()
}

/// Whether these bytes are a GUID in text form, with braces.
fn is_number(bytes: &[u8]) -> bool {
    let inner = bytes.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}"));
    inner.is_some_and(|inner| {
        inner.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{IS_TIME, settle, ticks};
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn what_is_not_found_once_is_refused() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let number = "00000000-0000-0000-0000-000000000000";
        let mut bytes = b"{142F5853-9264-4A09-9742-5BE483A1319C}".to_vec();
        for _ in 0..2 {
            bytes.extend_from_slice(&IS_TIME);
            bytes.extend_from_slice(&ticks(now).to_le_bytes());
        }
        let mut twice = [bytes.clone(), bytes.clone()].concat();
        settle(&mut bytes, &[number], 7).unwrap();
        assert_eq!(&bytes[1..9], b"00000000");
        assert_eq!(bytes[42..50], ticks(7).to_le_bytes());
        assert!(settle(&mut twice, &[number], 7).is_err());
    }
}
