//! The model twin of a database: the commits made, in log order, and which of them must have
//! survived.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Version of each row, by message number.
pub(crate) type Rows = BTreeMap<i64, i32>;

/// The changes of a transaction: the new version of a row, or `None` if it deleted the row.
pub(super) type Changes = HashMap<i64, Option<i32>>;

/// The rows and commits that the database has promised to keep.
#[derive(Debug)]
pub(crate) struct Model {
    state: RefCell<RowState>,
}

#[derive(Debug)]
struct RowState {
    /// The rows that certainly exist: the state after the last recovery or the start.
    base: Rows,
    /// Commits since then, in the order in which they requested a place in the log.
    commits: Vec<Changes>,
    /// How many of these commits were acknowledged as durable.
    durable: usize,
    /// Incremented so that no two versions of a row are the same.
    last_version: i32,
    lost: u64,
}

impl Model {
    pub(crate) fn new(base: Rows) -> Rc<Self> {
        Rc::new(Self {
            state: RefCell::new(RowState {
                base,
                commits: Vec::new(),
                durable: 0,
                last_version: 0,
                lost: 0,
            }),
        })
    }

    /// A version that no row ever had.
    pub(super) fn next_version(&self) -> i32 {
        let mut state = self.state.borrow_mut();
        state.last_version += 1;
        state.last_version
    }

    /// Records a commit that is about to be requested, and so gets the next place in the log.
    /// Returns its number.
    pub(super) fn commit(&self, changes: Changes) -> usize {
        let mut state = self.state.borrow_mut();
        state.commits.push(changes);
        state.commits.len()
    }

    /// Records that commit `number`, and so all before it, was acknowledged as durable.
    pub(super) fn acknowledge(&self, number: usize) {
        let mut state = self.state.borrow_mut();
        state.durable = state.durable.max(number);
    }

    /// Commits acknowledged as durable since the last recovery.
    pub(super) fn durable(&self) -> u64 {
        self.state.borrow().durable as u64
    }

    /// Number of lazy commits that recoveries did not restore.
    pub(super) fn lost(&self) -> u64 {
        self.state.borrow().lost
    }

    /// The rows after all commits.
    pub(super) fn rows(&self) -> Rows {
        let state = self.state.borrow();
        let mut rows = state.base.clone();
        state.commits.iter().for_each(|changes| apply(&mut rows, changes));
        rows
    }

    /// Settles which commits survived: `found` must be the result of the first `n` commits, with
    /// `n` at least the number of durable ones. From then on exactly those count.
    pub(super) fn settle(&self, found: &Rows) -> Result<(), String> {
        let mut state = self.state.borrow_mut();
        let mut rows = state.base.clone();
        let durable = state.durable;
        let fits = (0..=state.commits.len()).find(|&count| {
            if count > 0 {
                apply(&mut rows, &state.commits[count - 1]);
            }
            count >= durable && rows == *found
        });
        let Some(count) = fits else {
            return Err(state.explain(found));
        };
        state.lost += (state.commits.len() - count) as u64;
        found.clone_into(&mut state.base);
        state.commits.clear();
        state.durable = 0;
        Ok(())
    }
}

impl RowState {
    /// Explains how the rows found differ from the result of the durable commits alone, and which
    /// commits would account for the difference.
    fn explain(&self, found: &Rows) -> String {
        let mut rows = self.base.clone();
        for changes in &self.commits[..self.durable] {
            apply(&mut rows, changes);
        }
        let mut lines = vec![format!(
            "the rows are those of no prefix of the {} commits that holds the {} durable ones",
            self.commits.len(),
            self.durable
        )];
        let ids: std::collections::BTreeSet<_> = rows.keys().chain(found.keys()).collect();
        for id in ids {
            let (wanted, seen) = (rows.get(id), found.get(id));
            if wanted != seen {
                let writers: Vec<_> = (1..)
                    .zip(&self.commits)
                    .filter(|(_, changes)| changes.get(id).is_some_and(|to| to.as_ref() == seen))
                    .map(|(number, _)| number)
                    .collect();
                lines.push(format!(
                    "message {id}: version {seen:?} (left by commits {writers:?}), \
                     after the durable commits it was {wanted:?}"
                ));
            }
        }
        lines.join("\n")
    }
}

fn apply(rows: &mut Rows, changes: &Changes) {
    for (id, version) in changes {
        match version {
            Some(version) => rows.insert(*id, *version),
            None => rows.remove(id),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::{Changes, Model, Rows};

    fn change(id: i64, version: i32) -> Changes {
        std::iter::once((id, Some(version))).collect()
    }

    fn rows(rows: &[(i64, i32)]) -> Rows {
        rows.iter().copied().collect()
    }

    #[test]
    fn any_prefix_with_the_durable_commits_will_do_and_nothing_else() {
        let model = || {
            let model = Model::new(rows(&[(1, 0)]));
            model.commit(change(1, 1));
            let durable = model.commit(change(2, 2));
            model.acknowledge(durable);
            model.commit(change(1, 3));
            model.commit(change(3, 4));
            model
        };
        for good in
            [rows(&[(1, 1), (2, 2)]), rows(&[(1, 3), (2, 2)]), rows(&[(1, 3), (2, 2), (3, 4)])]
        {
            assert_eq!(model().settle(&good), Ok(()));
        }
        for bad in [
            rows(&[(1, 0)]),
            rows(&[(1, 1)]),
            rows(&[(1, 1), (2, 2), (3, 4)]),
            rows(&[(1, 3), (2, 2), (4, 4)]),
        ] {
            let problem = model().settle(&bad).unwrap_err();
            assert!(problem.contains("no prefix of the 4 commits"), "{problem}");
        }
    }
}
