//! Windows' performance counters. Querying them can be slow, so a thread does it once a second, and
//! no load waits for it.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::path::Path;
use std::ptr;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use windows_sys::Win32::System::Performance::{
    PDH_HCOUNTER, PDH_HQUERY, PDH_RAW_COUNTER, PdhAddEnglishCounterW, PdhCloseQuery,
    PdhCollectQueryData, PdhGetRawCounterValue, PdhOpenQueryW,
};

use super::sys::wide;

const FREE_ENTRIES: &str = r"\Memory\Free System Page Table Entries";
const REPURPOSED: &str = r"\Memory\Transition Pages RePurposed/sec";

const LOOK: Duration = Duration::from_secs(1);

/// Counts of the system's memory, at most a second old. `None` if not counted, or not yet.
#[derive(Clone, Copy, Debug)]
pub struct MemoryCounts {
    /// Free system page table entries.
    pub free_page_table_entries: Option<u64>,
    /// Pages repurposed from standby since the machine was started, and when the count was read.
    pub repurposed_pages: Option<(Instant, u64)>,
}

static LATEST: Mutex<MemoryCounts> =
    Mutex::new(MemoryCounts { free_page_table_entries: None, repurposed_pages: None });

impl MemoryCounts {
    /// The latest counts. The first call starts the counting and finds none yet.
    pub fn latest() -> Self {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            // Without the thread the counts are unknown, and the report says so.
            let _ = thread::Builder::new().name("counters".to_owned()).spawn(watch);
        });
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the counts until the program ends, or until neither is available.
fn watch() {
    let (entries, repurposed) = (CountQuery::of(FREE_ENTRIES), CountQuery::of(REPURPOSED));
    while entries.is_some() || repurposed.is_some() {
        let counted = MemoryCounts {
            free_page_table_entries: entries.as_ref().and_then(CountQuery::ask),
            repurposed_pages: repurposed
                .as_ref()
                .and_then(CountQuery::ask)
                .map(|count| (Instant::now(), count)),
        };
        *LATEST.lock().unwrap_or_else(PoisonError::into_inner) = counted;
        thread::sleep(LOOK);
    }
}

/// A counter that can be queried repeatedly.
struct CountQuery {
    query: PDH_HQUERY,
    counter: PDH_HCOUNTER,
}

impl CountQuery {
    /// The counter with an English name, regardless of the system's language; `None` if it does not
    /// exist.
    fn of(name: &str) -> Option<Self> {
        let (name, mut query) = (wide(Path::new(name)), ptr::null_mut());
        // SAFETY: the pointer is to a live handle; null asks the machine itself.
        if unsafe { PdhOpenQueryW(ptr::null(), 0, &raw mut query) } != 0 {
            return None;
        }
        let mut found = Self { query, counter: ptr::null_mut() };
        // SAFETY: the query is open, the name is terminated, the pointer is to a live handle.
        let added =
            unsafe { PdhAddEnglishCounterW(query, name.as_ptr(), 0, &raw mut found.counter) };
        (added == 0).then_some(found)
    }

    /// The raw count, not a rate derived from it.
    fn ask(&self) -> Option<u64> {
        let mut value = PDH_RAW_COUNTER::default();
        // SAFETY: query and counter are open; null skips an unwanted output, and `value` is live.
        let asked = unsafe {
            PdhCollectQueryData(self.query) == 0
                && PdhGetRawCounterValue(self.counter, ptr::null_mut(), &raw mut value) == 0
        };
        // A status of 0 or 1 is a value: `PDH_CSTATUS_VALID_DATA`, `PDH_CSTATUS_NEW_DATA`.
        u64::try_from(value.FirstValue).ok().filter(|_| asked && value.CStatus <= 1)
    }
}

impl Drop for CountQuery {
    fn drop(&mut self) {
        // SAFETY: the query is open and ends here, with its counter.
        let _ = unsafe { PdhCloseQuery(self.query) };
    }
}

#[cfg(test)]
mod tests {
    use super::CountQuery;

    #[test]
    fn a_counter_is_asked_again_and_again_and_one_that_there_is_not_is_none() {
        // One of the few counters that Wine has, though its value is always 0.
        let uptime = CountQuery::of(r"\System\System Up Time").unwrap();
        assert!(uptime.ask().is_some() && uptime.ask().is_some());
        assert!(CountQuery::of(r"\Memory\No Such Counter").is_none());
    }
}
