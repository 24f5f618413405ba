//! `iscsi-perf` of libiscsi as the client of any target.

use xtask::failure::Failure;
use xtask::shell;

/// Blocks per read: 64 of 512 bytes are 32 KiB.
const READ_BLOCKS: &str = "64";

/// Seconds of one measurement.
pub(crate) const SECONDS: u64 = 2;

/// Random reads per second of the LUN at `address`.
pub(crate) fn perf(address: &str, depth: &str) -> Result<f64, Failure> {
    let seconds = SECONDS.to_string();
    let words = ["iscsi-perf", "-r", "-m", depth, "-b", READ_BLOCKS, "-t", &seconds, address];
    let printed = shell::capture(&words)?;
    average(&printed).ok_or_else(|| Failure::new(format!("iscsi-perf printed `{printed}`")))
}

/// The number after the last `iops average`; carriage returns end the lines that are overwritten.
fn average(printed: &str) -> Option<f64> {
    let (_, rest) = printed.rsplit_once("iops average ")?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::average;

    #[test]
    fn the_last_average_counts() {
        let printed = "lba 1, iops average 447 (14 MB/s), busy 0\r\niops average 495 (15 MB/s)  \n";
        assert_eq!(average(printed), Some(495.0));
        assert_eq!(average("connected"), None);
    }
}
