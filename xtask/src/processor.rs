//! Processor time of child processes that have been waited for. Unlike elapsed time, it hardly
//! depends on other load on the machine.

use std::fs;
use std::time::Duration;

/// Ticks per second in which the kernel reports times to programs, on every architecture that this
/// program runs on.
const TICKS_PER_SECOND: u64 = 100;

/// Processor time, in user and kernel mode, of all terminated descendants; `None` except on Linux.
pub(crate) fn of_children() -> Option<Duration> {
    children_ticks(&fs::read_to_string("/proc/self/stat").ok()?)
        .map(|ticks| Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND))
}

/// The sum of `cutime` and `cstime`, fields 16 and 17 of proc(5). Field 2, the name in parentheses,
/// may itself contain blanks and parentheses.
fn children_ticks(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace().skip(13);
    let [user, kernel] = [fields.next()?, fields.next()?];
    Some(user.parse::<u64>().ok()? + kernel.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::{children_ticks, of_children};

    #[test]
    fn the_times_of_children_are_found_behind_any_name() {
        let stat = "7 (a) b) R 1 7 7 0 -1 4194304 95 812 0 0 11 12 300 45 20 0 1 0 9 0 0";
        assert_eq!(children_ticks(stat), Some(345));
        assert_eq!(children_ticks("7 (a"), None);
        assert_eq!(children_ticks("7 (a) R 1 7"), None);
    }

    #[test]
    fn linux_counts_it() {
        assert_eq!(of_children().is_some(), cfg!(target_os = "linux"));
    }
}
