//! Position of a load in a search for the load line: the number of remaining loads and their
//! duration.

use std::time::Duration;

use host::NextLoad;

use crate::term;

/// Announces the next load, and the number and time of the remaining ones.
pub(crate) fn words(next: &NextLoad<'_>) -> String {
    let load = next.asked_iops;
    let load = load.map_or_else(|| "not held".to_owned(), |iops| format!("at {iops} IOPS"));
    format!("Load {}, {load}; {}", next.number, left(next.left, next.took, next.measured))
}

/// Describes the number of remaining loads, including the next, and their duration, assuming that
/// each lasts as long as the completed ones, which `took` this long. The very first, which fills
/// the caches and searches for the number of sessions, is less representative; before it, only the
/// measured length of each is known.
fn left((fewest, most): (usize, usize), took: &[Duration], measured: Duration) -> String {
    // A repeated load may have raised the number above the forecast.
    let (fewest, most) = (fewest.max(1), most.max(1));
    let loads = match most {
        _ if fewest < most => format!("{fewest} to {most} loads left"),
        1 => "the last load".to_owned(),
        most => format!("{most} loads left"),
    };
    let Some(first) = took.first() else {
        let measured = term::duration(measured);
        return format!("{loads}, each measured for {measured} after its warm-up");
    };
    let held = took.get(1..).unwrap_or_default();
    let each = match u32::try_from(held.len()) {
        Ok(count) if count > 0 => held.iter().sum::<Duration>() / count,
        _ => *first,
    };
    let [least, longest] = [fewest, most]
        .map(|loads| term::duration(each.saturating_mul(u32::try_from(loads).unwrap_or(u32::MAX))));
    if least == longest {
        return format!("{loads}, about {least}");
    }
    format!("{loads}, about {least} to {longest}")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::left;

    fn told(loads: (usize, usize), took: &[u64]) -> String {
        let took: Vec<Duration> =
            took.iter().map(|seconds| Duration::from_secs(*seconds)).collect();
        left(loads, &took, Duration::from_mins(1))
    }

    #[test]
    fn the_time_that_is_left_is_that_of_the_held_loads_so_far() {
        assert!(told((5, 9), &[]).starts_with("5 to 9 loads left, each measured for 1 min"));
        assert_eq!(told((4, 8), &[200]), "4 to 8 loads left, about 13 min 20 s to 26 min 40 s");
        assert_eq!(told((2, 2), &[200, 80, 120]), "2 loads left, about 3 min 20 s");
        assert_eq!(told((0, 0), &[200, 80, 120]), "the last load, about 1 min 40 s");
    }
}
