//! fjall with key-value separation: a log-structured tree of keys, values in blob files.

use std::path::Path;

use fjall::{Database, Keyspace, KeyspaceCreateOptions, KvSeparationOptions, PersistMode};

use crate::Failure;
use crate::mix::Store;

/// A database with one keyspace.
pub struct Fjall {
    database: Database,
    mail: Keyspace,
}

/// Opens an empty database in `folder`.
pub fn open(folder: &Path, cache_bytes: u64) -> Result<Fjall, Failure> {
    let database = Database::builder(folder).cache_size(cache_bytes).open()?;
    let separated = || {
        let separation = KvSeparationOptions::default();
        KeyspaceCreateOptions::default().with_kv_separation(Some(separation))
    };
    let mail = database.keyspace("mail", separated)?;
    Ok(Fjall { database, mail })
}

impl Fjall {
    fn persist(&self, durable: bool) -> Result<(), Failure> {
        if durable {
            self.database.persist(PersistMode::SyncData)?;
        }
        Ok(())
    }
}

impl Store for Fjall {
    fn preload(&self, records: &[(i64, Vec<u8>)]) -> Result<(), Failure> {
        for (key, value) in records {
            self.mail.insert(key.to_be_bytes(), value.as_slice())?;
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), Failure> {
        Ok(self.database.persist(PersistMode::SyncAll)?)
    }

    fn put(&self, key: i64, value: &[u8], durable: bool) -> Result<(), Failure> {
        self.mail.insert(key.to_be_bytes(), value)?;
        self.persist(durable)
    }

    /// Always returns `true`: fjall writes a tombstone without checking whether the record exists.
    fn delete(&self, key: i64, durable: bool) -> Result<bool, Failure> {
        self.mail.remove(key.to_be_bytes())?;
        self.persist(durable)?;
        Ok(true)
    }

    fn read(&self, key: i64, value: &mut Vec<u8>) -> Result<bool, Failure> {
        value.clear();
        let found = self.mail.get(key.to_be_bytes())?;
        if let Some(found) = &found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }
}
