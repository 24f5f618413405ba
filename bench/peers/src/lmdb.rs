//! LMDB through heed: a copy-on-write B-tree in a memory map, one writer at a time. Its only cache
//! is the page cache, which is kept cold.

use std::path::Path;

use heed::byteorder::BE;
use heed::types::{Bytes, I64};
use heed::{Database, Env, EnvFlags, EnvOpenOptions};

use crate::Failure;
use crate::mix::Store;

/// Address space of the map: far more than the file grows to.
const MAP_BYTES: usize = 32 << 30;

/// Maximum number of concurrent readers.
const READERS: u32 = 256;

/// An environment with one database.
pub struct Lmdb {
    environment: Env,
    mail: Database<I64<BE>, Bytes>,
}

/// Creates an empty environment in `folder`. Commits do not wait for the disk; durable ones are
/// followed by a sync.
pub fn open(folder: &Path) -> Result<Lmdb, Failure> {
    let mut options = EnvOpenOptions::new();
    options.map_size(MAP_BYTES).max_readers(READERS);
    // SAFETY: no other process opens these files, and a database torn by a crash of the machine is
    // discarded, like every database of a benchmark.
    let environment = unsafe {
        options.flags(EnvFlags::NO_SYNC | EnvFlags::NO_READ_AHEAD);
        options.open(folder)?
    };
    let mut transaction = environment.write_txn()?;
    let mail = environment.create_database(&mut transaction, None)?;
    transaction.commit()?;
    Ok(Lmdb { environment, mail })
}

impl Lmdb {
    fn sync(&self, durable: bool) -> Result<(), Failure> {
        if durable {
            self.environment.force_sync()?;
        }
        Ok(())
    }
}

impl Store for Lmdb {
    fn preload(&self, records: &[(i64, Vec<u8>)]) -> Result<(), Failure> {
        let mut transaction = self.environment.write_txn()?;
        for (key, value) in records {
            self.mail.put(&mut transaction, key, value)?;
        }
        Ok(transaction.commit()?)
    }

    fn settle(&self) -> Result<(), Failure> {
        self.sync(true)
    }

    fn put(&self, key: i64, value: &[u8], durable: bool) -> Result<(), Failure> {
        let mut transaction = self.environment.write_txn()?;
        self.mail.put(&mut transaction, &key, value)?;
        transaction.commit()?;
        self.sync(durable)
    }

    fn delete(&self, key: i64, durable: bool) -> Result<bool, Failure> {
        let mut transaction = self.environment.write_txn()?;
        let found = self.mail.delete(&mut transaction, &key)?;
        transaction.commit()?;
        self.sync(durable)?;
        Ok(found)
    }

    fn read(&self, key: i64, value: &mut Vec<u8>) -> Result<bool, Failure> {
        value.clear();
        let transaction = self.environment.read_txn()?;
        let found = self.mail.get(&transaction, &key)?;
        if let Some(found) = found {
            value.extend_from_slice(found);
        }
        Ok(found.is_some())
    }
}
