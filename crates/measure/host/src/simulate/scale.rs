//! How large the databases of a simulated run are: small enough for memory, large enough that
//! caches answer no more of the reads than at full size.

use plan::{Plan, Sessions};
use units::{Bytes, Nanos};

/// Memory for the images of all databases. Pages that are written and logs come on top.
const IMAGE_BYTES: u64 = 640 << 20;

/// Largest ratio of a scaled database to its cache, with which the original's load has the same
/// figures as at full size; see `cargo xtask bench fidelity`.
const CACHES_OF_A_DATABASE: u64 = 32;

/// Minimum size that holds the pages in use by the sessions of a database.
const LEAST_CACHE: Bytes = Bytes(4 << 20);

/// Maximum duration unless the user asks for more: a load in memory settles within seconds, and its
/// databases grow in memory.
const USUAL_SECONDS: f64 = 120.0;

/// Limit for loads held low, so that the engine still simulates them.
const LONGEST_USUAL_SECONDS: f64 = 600.0;

/// A database held below this rate is simulated for longer than usual: two minutes of it bring
/// fewer log writes than a verdict needs.
const FEW_REQUESTS_PER_SECOND: f64 = 100.0;

/// Returns the maximum simulated time, unless the user asks for another.
pub fn usual_duration(plan: &Plan) -> Nanos {
    let slowness = plan.workload.target_iops.map_or(1.0, |target| {
        let each = f64::from(target) / plan.databases.len().max(1) as f64;
        FEW_REQUESTS_PER_SECOND / each.max(1.0)
    });
    let seconds = (USUAL_SECONDS * slowness).clamp(USUAL_SECONDS, LONGEST_USUAL_SECONDS);
    Nanos::from_secs(whole(seconds))
}

/// Limit on real bytes per simulated byte: it permits two databases of more than 1 TiB. Both levels
/// were compared up to 1,792 (docs/method.md).
const LARGEST_STRETCH: f64 = 4_096.0;

/// Minimum size of a database for level 2, in caches. Level 2 sends to storage the reads that a
/// trace of small databases did; if the cache holds a larger part of the database, the two differ.
const LEAST_CACHES_FOR_OPERATIONS: u64 = 8;

/// With fewer pages, sessions wait for the pages of others to leave the cache, and reread pages
/// that they have just used. Level 2 does not model that: with 32 pages a session (4 sessions, 4
/// MiB) it has a third more log writes than the engine, and page writes 8 % faster. Level 1 must
/// not add it by making the cache smaller: with 27 pages a session (6 sessions, 1 GiB made 5 MiB)
/// it read a tenth more for each transaction. See `cargo xtask bench levels`.
const LEAST_PAGES_OF_A_SESSION: u64 = 64;

/// Returns why level 1 cannot represent the databases of `plan`; `None` if it can.
pub(super) fn beyond_engine(plan: &Plan) -> Option<String> {
    let (smaller, stretch) = scaled(plan);
    let share = smaller.size.0 as f64 / plan.size.0 as f64;
    let cache =
        whole(plan.cache.maximum.0 as f64 * share).max(smaller.size.0 / CACHES_OF_A_DATABASE);
    let count = plan.databases.len();
    if stretch > LARGEST_STRETCH {
        return Some(format!(
            "it keeps the pages of all databases in {} of memory, and {count} of {} would shrink \
             {stretch:.0} times, more than {LARGEST_STRETCH:.0}",
            Bytes(IMAGE_BYTES),
            plan.size
        ));
    }
    if stretch > 1.0 && Bytes(cache) < LEAST_CACHE {
        return Some(format!(
            "it keeps the pages of all databases in {} of memory, and {count} would have {} \
             each, of which the engine's cache answers more than of {}",
            Bytes(IMAGE_BYTES),
            smaller.size,
            plan.size
        ));
    }
    let (pages, sessions) = crowd(&smaller).filter(|_| stretch > 1.0)?;
    Some(format!(
        "it keeps the pages of all databases in {} of memory, where a cache of {} has {pages} \
         pages, and {sessions} sessions, with fewer than {LEAST_PAGES_OF_A_SESSION} each, wait for \
         each other's",
        Bytes(IMAGE_BYTES),
        smaller.cache.maximum
    ))
}

/// Returns the pages of a cache and its sessions if the sessions have too few of them. If the plan
/// searches for the number of sessions, it is unknown here.
fn crowd(plan: &Plan) -> Option<(u64, u32)> {
    let Sessions::Count(sessions) = plan.workload.sessions else {
        return None;
    };
    let pages = plan.cache.maximum.0 / plan.page_size.0.max(1);
    (pages < u64::from(sessions) * LEAST_PAGES_OF_A_SESSION).then_some((pages, sessions))
}

/// Returns why level 2 cannot represent the load of `plan`; `None` if it can.
pub(super) fn beyond_operations(plan: &Plan) -> Option<String> {
    let most = plan.size.0 / LEAST_CACHES_FOR_OPERATIONS;
    if plan.cache.maximum.0 > most {
        return Some(format!(
            "it sends every read to storage, and a cache of {} holds more than one part in \
             {LEAST_CACHES_FOR_OPERATIONS} of a database of {}",
            plan.cache.maximum, plan.size
        ));
    }
    let (pages, sessions) = crowd(plan)?;
    Some(format!(
        "a cache of {} has {pages} pages, and it leaves out that {sessions} sessions, with fewer \
         than {LEAST_PAGES_OF_A_SESSION} each, wait for each other's",
        plan.cache.maximum
    ))
}

/// A plan of the same load on smaller databases, and the real bytes per simulated byte. Cache and
/// checkpoint depth shrink with the database, so that the same share of it is cached, and a page is
/// as unlikely to change twice before it is written.
pub(crate) fn scaled(plan: &Plan) -> (Plan, f64) {
    scaled_to(plan, plan.databases.len())
}

/// The same if only `count` of the databases are kept in memory.
pub(super) fn scaled_to(plan: &Plan, count: usize) -> (Plan, f64) {
    let share = Bytes(IMAGE_BYTES / count.max(1) as u64);
    let size = plan.size.min(share);
    if size == plan.size {
        return (plan.clone(), 1.0);
    }
    let stretch = plan.size.0 as f64 / size.0 as f64;
    let as_much = Bytes(whole(plan.cache.maximum.0 as f64 / stretch));
    let maximum = as_much.max(Bytes(size.0 / CACHES_OF_A_DATABASE)).max(LEAST_CACHE);
    let maximum = Bytes(whole_mebibytes(maximum)).min(plan.cache.maximum);
    let smaller = maximum.0 as f64 / plan.cache.maximum.0 as f64;
    let depth = whole(plan.checkpoint_depth.0 as f64 * smaller);
    let mut scaled = plan.clone();
    scaled.size = size;
    scaled.cache.maximum = maximum;
    scaled.cache.minimum = plan.cache.minimum.min(maximum);
    scaled.checkpoint_depth = Bytes(depth.max(1 << 20)).min(plan.checkpoint_depth);
    (scaled, stretch)
}

fn whole_mebibytes(bytes: Bytes) -> u64 {
    bytes.0.div_ceil(1 << 20) << 20
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and times are positive, and a fraction of one fits"
)]
pub(super) fn whole(of: f64) -> u64 {
    of as u64
}

#[cfg(test)]
mod tests {
    use plan::Plan;
    use units::{Bytes, Nanos};

    use super::{beyond_engine, beyond_operations, scaled, usual_duration};

    #[test]
    fn loads_that_are_held_low_are_simulated_for_longer() {
        let held = |target: u32| {
            let text = format!(
                "[databases]\nfolders = [\"/a\"]\ncount = 3\nsize = \"1TiB\"\n[workload]\n\
                 target_iops = {target}\n"
            );
            usual_duration(&Plan::parse("test", &text).expect("a valid plan"))
        };
        assert_eq!(usual_duration(&plan("1TiB", 2)), Nanos::from_secs(120));
        assert_eq!((held(3_000), held(300)), (Nanos::from_secs(120), Nanos::from_secs(120)));
        assert_eq!((held(100), held(6)), (Nanos::from_secs(360), Nanos::from_secs(600)));
    }

    fn plan(size: &str, databases: u32) -> Plan {
        let text =
            format!("[databases]\nfolders = [\"/a\"]\ncount = {databases}\nsize = \"{size}\"\n");
        Plan::parse("test", &text).expect("a valid plan")
    }

    #[test]
    fn what_fits_into_memory_is_simulated_as_it_is() {
        let plan = plan("256MiB", 2);
        assert_eq!(scaled(&plan), (plan.clone(), 1.0));
    }

    #[test]
    fn cache_and_checkpoint_depth_become_smaller_with_the_database() {
        let plan = plan("1TiB", 2);
        let (scaled, stretch) = scaled(&plan);
        assert_eq!(scaled.size, Bytes(320 << 20));
        assert!((stretch - 3_276.8).abs() < 0.1, "{stretch}");
        assert_eq!(scaled.cache.maximum, Bytes(10 << 20));
        let share = |of: &Plan| of.checkpoint_depth.0 as f64 / of.cache.maximum.0 as f64;
        assert!((share(&scaled) / share(&plan) - 1.0).abs() < 0.3);
    }

    #[test]
    fn each_level_refuses_what_it_cannot_stand_for() {
        // Eighteen databases of 35 MiB would have caches of a ninth of their size, not of a 32nd.
        let shelf = plan("64GiB", 18);
        assert!(beyond_engine(&shelf).unwrap().contains("18 would have 35."));
        assert_eq!(beyond_operations(&shelf), None);
        assert!(beyond_engine(&plan("16TiB", 2)).unwrap().contains("52429 times"));
        assert_eq!(beyond_engine(&plan("1TiB", 2)), None);
        // Small databases are simulated unchanged, whatever share of them the cache holds.
        let small = plan("64MiB", 2);
        assert_eq!(beyond_engine(&small), None);
        assert!(beyond_operations(&small).unwrap().contains("one part in 8"));
    }

    #[test]
    fn sessions_that_wait_for_each_others_pages_are_left_to_the_engine() {
        let small = |sessions: u32| {
            let text = format!(
                "[databases]\nfolders = [\"/a\"]\nsize = \"64MiB\"\n[engine]\n\
                 cache_minimum = \"4MiB\"\ncache_maximum = \"4MiB\"\n[workload]\n\
                 threads = {sessions}\n"
            );
            beyond_operations(&Plan::parse("test", &text).expect("a valid plan"))
        };
        assert_eq!(small(2), None);
        let why = small(3).expect("42 pages each");
        assert!(why.contains("has 128 pages") && why.contains("3 sessions"), "{why}");
    }

    #[test]
    fn many_databases_keep_a_cache_that_their_sessions_can_work_in() {
        let (scaled, _) = scaled(&plan("1TiB", 16));
        assert_eq!(scaled.cache.maximum, Bytes(4 << 20));
        assert!(scaled.cache.minimum <= scaled.cache.maximum);
    }
}
