//! The generator's side of the mix: preload, threads, and their counts. The operations come from
//! the same generator as those of our own engine.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use units::Seed;
use workload::{MailboxLoad, MailboxOperation, Mailboxes};

use crate::Failure;
use crate::cold;
use crate::tally::{Line, Tally, Usage};

/// The seed that `cargo xtask bench engine` gives our engine.
const SEED: Seed = Seed(1);

/// Records of one preloading transaction.
const PRELOAD_RECORDS: usize = 1000;

/// Operations an engine must support. Each call is a separate transaction.
pub trait Store: Sync {
    /// Adds records in one transaction.
    fn preload(&self, records: &[(i64, Vec<u8>)]) -> Result<(), Failure>;
    /// Makes all that was preloaded durable.
    fn settle(&self) -> Result<(), Failure>;
    /// Adds or replaces a record.
    fn put(&self, key: i64, value: &[u8], durable: bool) -> Result<(), Failure>;
    /// Removes a record; returns `false` if there was none, as far as the engine can tell.
    fn delete(&self, key: i64, durable: bool) -> Result<bool, Failure>;
    /// Copies a record's value into `value`; returns `false` if there is no such record.
    fn read(&self, key: i64, value: &mut Vec<u8>) -> Result<bool, Failure>;
}

/// The arguments of a run.
pub struct Mix {
    /// Records before the mix begins.
    pub records: u32,
    /// Size of the engine's own cache, if it has one.
    pub cache_bytes: u64,
    /// Duration of the measurement with each number of sessions.
    pub span: Duration,
    /// Numbers of sessions, one after the other.
    pub sessions: Vec<u32>,
}

struct Shared<'a, S> {
    store: &'a S,
    /// Generates values; a clone, so that sessions need no lock for this.
    values: Mailboxes,
    mailboxes: Mutex<&'a mut Mailboxes>,
    version: AtomicU64,
    span: Duration,
    began: Instant,
}

impl Mix {
    /// Preloads `store` and prints one line for each number of sessions.
    pub fn run(&self, name: &str, folder: &Path, store: &impl Store) -> Result<(), Failure> {
        let mut mailboxes = Mailboxes::new(SEED, self.records);
        preload(store, &mailboxes)?;
        for &sessions in &self.sessions {
            let line = cold::keep(folder, || {
                self.measure(name, store, &mut mailboxes, sessions)
            })?;
            println!("{line}");
        }
        Ok(())
    }

    fn measure(
        &self,
        name: &str,
        store: &impl Store,
        mailboxes: &mut Mailboxes,
        sessions: u32,
    ) -> Result<Line, Failure> {
        let before = Usage::now()?;
        let shared = Shared {
            store,
            values: mailboxes.clone(),
            mailboxes: Mutex::new(mailboxes),
            version: AtomicU64::new(u64::from(sessions) << 32),
            span: self.span,
            began: Instant::now(),
        };
        let seed = SEED.derive(u64::from(sessions));
        let tally = thread::scope(|scope| {
            let session = |session| {
                let load = MailboxLoad::new(seed, session);
                let shared = &shared;
                scope.spawn(move || shared.session(load))
            };
            let threads: Vec<_> = (0..sessions).map(session).collect();
            let mut tally = Tally::default();
            for thread in threads {
                let done = thread.join();
                tally.add(&done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
            }
            Ok::<_, Failure>(tally)
        })?;
        let span = shared.began.elapsed();
        Ok(Line {
            engine: name.to_owned(),
            sessions,
            tally,
            span,
            usage: (before, Usage::now()?),
        })
    }
}

fn preload(store: &impl Store, mailboxes: &Mailboxes) -> Result<(), Failure> {
    let keys: Vec<i64> = mailboxes.keys().collect();
    for keys in keys.chunks(PRELOAD_RECORDS) {
        let record = |&key: &i64| {
            let mut value = Vec::new();
            mailboxes.value(key, 0, &mut value);
            (key, value)
        };
        let records: Vec<_> = keys.iter().map(record).collect();
        store.preload(&records)?;
    }
    store.settle()
}

impl<S: Store> Shared<'_, S> {
    fn session(&self, mut load: MailboxLoad) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        let mut value = Vec::new();
        while self.began.elapsed() < self.span {
            let (operation, durable) = {
                let mut mailboxes = self
                    .mailboxes
                    .lock()
                    .map_err(|_| "a session has panicked")?;
                load.next(&mut mailboxes)
            };
            let found = match operation {
                MailboxOperation::Insert(key) => {
                    self.values.value(key, 0, &mut value);
                    self.store.put(key, &value, durable)?;
                    true
                }
                MailboxOperation::Replace(key) => {
                    let version = self.version.fetch_add(1, Ordering::Relaxed) + 1;
                    self.values.value(key, version, &mut value);
                    self.store.put(key, &value, durable)?;
                    true
                }
                MailboxOperation::Delete(key) => self.store.delete(key, durable)?,
                MailboxOperation::Read(key) => {
                    let began = Instant::now();
                    let found = self.store.read(key, &mut value)?;
                    let nanos = began.elapsed().as_nanos();
                    tally.note_read(u64::try_from(nanos).unwrap_or(u64::MAX));
                    found
                }
            };
            tally.count(!found);
        }
        Ok(tally)
    }
}
