//! Chooses the free units for a file, as a pure function.

use super::directory::UnitRange;

/// The free extents of a volume of `units` units, with `used` taken, in any order.
pub(super) fn holes(mut used: Vec<UnitRange>, units: u32) -> Vec<UnitRange> {
    used.sort();
    let (mut holes, mut begin) = (Vec::new(), 0);
    for extent in used.into_iter().chain([UnitRange { first: units, count: 0 }]) {
        if extent.first > begin {
            holes.push(UnitRange { first: begin, count: extent.first - begin });
        }
        begin = begin.max(extent.end());
    }
    holes
}

/// `wanted` units out of `holes`: first those at `next`, the current end of the file, then the
/// smallest hole that fits the rest, otherwise the largest ones. `None` if there are too few.
pub(super) fn allocate(
    mut holes: Vec<UnitRange>,
    next: Option<u32>,
    wanted: u64,
) -> Option<Vec<UnitRange>> {
    let (mut taken, mut left, mut next) = (Vec::new(), wanted, next);
    while left > 0 {
        let at = choose(&holes, next.take(), left)?;
        let hole = &mut holes[at];
        let count = u32::try_from(left).map_or(hole.count, |left| left.min(hole.count));
        taken.push(UnitRange { first: hole.first, count });
        left -= u64::from(count);
        *hole = UnitRange { first: hole.first + count, count: hole.count - count };
        if hole.count == 0 {
            holes.remove(at);
        }
    }
    Some(taken)
}

fn choose(holes: &[UnitRange], next: Option<u32>, left: u64) -> Option<usize> {
    let numbered = holes.iter().enumerate();
    let fitting = numbered.clone().filter(|(_, hole)| u64::from(hole.count) >= left);
    let behind = numbered.clone().find(|(_, hole)| Some(hole.first) == next);
    behind
        .or_else(|| fitting.min_by_key(|(_, hole)| hole.count))
        .or_else(|| numbered.max_by_key(|(_, hole)| hole.count))
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::{UnitRange, allocate, holes};

    fn extents(pairs: &[(u32, u32)]) -> Vec<UnitRange> {
        pairs.iter().map(|&(first, count)| UnitRange { first, count }).collect()
    }

    #[test]
    fn holes_are_what_is_not_taken() {
        assert_eq!(holes(Vec::new(), 9), extents(&[(0, 9)]));
        let used = extents(&[(8, 1), (0, 2), (4, 2)]);
        assert_eq!(holes(used, 9), extents(&[(2, 2), (6, 2)]));
        assert_eq!(holes(extents(&[(0, 9)]), 9), []);
    }

    #[test]
    fn a_file_grows_where_it_ends_and_begins_where_it_fits_best() {
        let free = extents(&[(0, 5), (10, 3), (20, 8)]);
        let taken = |next, wanted| allocate(free.clone(), next, wanted);
        assert_eq!(taken(None, 3), Some(extents(&[(10, 3)])));
        assert_eq!(taken(Some(20), 3), Some(extents(&[(20, 3)])));
        assert_eq!(taken(Some(10), 5), Some(extents(&[(10, 3), (0, 2)])));
        assert_eq!(taken(Some(7), 12), Some(extents(&[(20, 8), (0, 4)])));
        assert_eq!(taken(None, 16), Some(extents(&[(20, 8), (0, 5), (10, 3)])));
        assert_eq!(taken(None, 17), None);
        assert_eq!(taken(None, 0), Some(Vec::new()));
    }
}
