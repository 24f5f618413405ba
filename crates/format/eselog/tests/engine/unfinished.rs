//! Transactions that the log does not end, too long for memory: their undo information is set aside
//! and leads to the same rows.

use units::{Prng, Seed};

use crate::story::{Story, rows};

/// Rows of each session; no two sessions change one row.
const ROWS: u16 = 4;
const SESSIONS: u16 = 2;
/// Memory in which a few changes fit.
const LITTLE: usize = 2 << 10;
/// Number that records give to a replacement.
const REPLACE: u16 = 2;

/// A change that may have to be undone.
struct Change {
    level: u8,
    row: u16,
    version: u32,
    before: Vec<u8>,
}

/// A session, and what its open transaction has changed.
#[derive(Default)]
struct Open {
    level: u8,
    changes: Vec<Change>,
}

/// A random log, and the rows that it must lead to.
struct Model {
    story: Story,
    random: Prng,
    rows: Vec<Vec<u8>>,
    sessions: Vec<Open>,
}

const fn key(row: u16) -> [u8; 2] {
    row.to_be_bytes()
}

impl Model {
    fn new(seed: u64) -> Self {
        let mut story = Story::new();
        story.begin(9);
        for row in 0..ROWS * SESSIONS {
            story.insert(9, row, &key(row), b"first");
        }
        story.commit(9);
        let sessions = (0..SESSIONS).map(|_| Open::default()).collect();
        let rows = vec![b"first".to_vec(); usize::from(ROWS * SESSIONS)];
        Self { story, random: Prng::new(Seed(seed)), rows, sessions }
    }

    fn step(&mut self) {
        let session = u16::try_from(self.random.below(u64::from(SESSIONS))).expect("small");
        let level = self.sessions[usize::from(session)].level;
        match self.random.below(40) {
            _ if level == 0 => {
                self.story.begin(session);
                self.sessions[usize::from(session)].level = 1;
            }
            0 => self.commit(session),
            1 => self.roll_back(session, usize::MAX),
            2 | 3 if level < 4 => {
                self.story.begin_nested(session, level);
                self.sessions[usize::from(session)].level += 1;
            }
            4 => self.roll_back(session, 2),
            5 if level > 1 => self.give_up(session),
            _ => self.replace(session, level),
        }
    }

    fn replace(&mut self, session: u16, level: u8) {
        let row = session * ROWS + u16::try_from(self.random.below(4)).expect("small");
        let mut data = vec![0; 5 + usize::try_from(self.random.below(200)).expect("small")];
        self.random.fill(&mut data);
        self.story.level = level;
        self.story.replace(session, row, &data);
        let before = std::mem::replace(&mut self.rows[usize::from(row)], data);
        let version = self.story.version;
        let change = Change { level, row, version, before };
        self.sessions[usize::from(session)].changes.push(change);
    }

    /// Ends the innermost level.
    fn commit(&mut self, session: u16) {
        let open = &mut self.sessions[usize::from(session)];
        open.level -= 1;
        if open.level == 0 {
            open.changes.clear();
            self.story.commit(session);
        } else {
            for change in &mut open.changes {
                change.level = change.level.min(open.level);
            }
            self.story.commit_nested(session, open.level);
        }
    }

    /// Undoes up to `most` changes of the innermost level by records, and ends it if that was all.
    fn roll_back(&mut self, session: u16, most: usize) {
        let index = usize::from(session);
        let level = self.sessions[index].level;
        for _ in 0..most {
            let changes = &mut self.sessions[index].changes;
            let Some(change) = changes.pop_if(|change| change.level >= level) else {
                self.story.roll_back(session);
                self.sessions[index].level -= 1;
                return;
            };
            let Change { row, version, before, .. } = change;
            self.story.undo(session, row, version, REPLACE, &key(row));
            self.rows[usize::from(row)] = before;
        }
    }

    /// Ends the innermost level by its record alone: changes not undone before stay.
    fn give_up(&mut self, session: u16) {
        let open = &mut self.sessions[usize::from(session)];
        open.level -= 1;
        open.changes.retain(|change| change.level <= open.level);
        self.story.roll_back(session);
    }

    /// The rows once everything open is undone.
    fn undone(&mut self) -> Vec<(Vec<u8>, Vec<u8>)> {
        for open in &mut self.sessions {
            for change in open.changes.drain(..).rev() {
                self.rows[usize::from(change.row)] = change.before;
            }
        }
        let numbered = (0..).zip(&self.rows);
        numbered.map(|(row, data)| (key(row).to_vec(), data.clone())).collect()
    }
}

#[test]
fn transactions_at_random_are_undone_in_any_memory() {
    let mut set_aside = 0;
    for seed in 0..100 {
        let made = || {
            let mut model = Model::new(seed);
            for _ in 0..seed * 8 {
                model.step();
            }
            model
        };
        let expected = made().undone();
        for cache_bytes in [1 << 20, LITTLE, 0] {
            let (store, _) = made().story.replayed_in(cache_bytes, true);
            assert_eq!(rows(&store), expected, "seed {seed}, {cache_bytes} bytes");
            set_aside += usize::from(!store.aside.is_empty());
        }
    }
    assert!(set_aside > 150, "{set_aside} replays did not fit into memory");
}

#[test]
fn a_transaction_that_never_ended_does_not_stay_in_memory() {
    let mut story = Story::new();
    story.begin(1);
    story.insert(1, 0, &key(0), &[0; 100]);
    story.commit(1);
    story.begin(2);
    for change in 0..4_000_u32 {
        story.replace(2, 0, &[change.to_le_bytes()[0]; 100]);
    }
    let (store, summary) = story.replayed_in(64 << 10, true);
    assert_eq!(rows(&store), [(key(0).to_vec(), vec![0; 100])]);
    assert_eq!((summary.transactions_undone, summary.changes_undone), (1, 4_000));
    assert!(store.aside.len() > 4_000 * 90, "{} bytes were set aside", store.aside.len());
}
