//! redb: a copy-on-write B-tree in one file, one writer at a time.

use std::path::Path;

use redb::{Database, Durability, ReadableDatabase, TableDefinition, TableError, WriteTransaction};

use crate::Failure;
use crate::mix::Store;

const MAIL: TableDefinition<i64, &[u8]> = TableDefinition::new("mail");

/// A database with one table.
pub struct Redb {
    database: Database,
}

/// Creates an empty database in `folder`.
pub fn open(folder: &Path, cache_bytes: u64) -> Result<Redb, Failure> {
    let database = Database::builder()
        .set_cache_size(usize::try_from(cache_bytes)?)
        .create(folder.join("mail.redb"))?;
    Ok(Redb { database })
}

impl Redb {
    fn begin(&self, durable: bool) -> Result<WriteTransaction, Failure> {
        let mut transaction = self.database.begin_write()?;
        transaction.set_durability(if durable {
            Durability::Immediate
        } else {
            Durability::None
        })?;
        Ok(transaction)
    }
}

impl Store for Redb {
    fn preload(&self, records: &[(i64, Vec<u8>)]) -> Result<(), Failure> {
        let transaction = self.begin(true)?;
        {
            let mut mail = transaction.open_table(MAIL)?;
            for (key, value) in records {
                mail.insert(key, value.as_slice())?;
            }
        }
        Ok(transaction.commit()?)
    }

    fn settle(&self) -> Result<(), Failure> {
        Ok(self.begin(true)?.commit()?)
    }

    fn put(&self, key: i64, value: &[u8], durable: bool) -> Result<(), Failure> {
        let transaction = self.begin(durable)?;
        transaction.open_table(MAIL)?.insert(key, value)?;
        Ok(transaction.commit()?)
    }

    fn delete(&self, key: i64, durable: bool) -> Result<bool, Failure> {
        let transaction = self.begin(durable)?;
        let found = transaction.open_table(MAIL)?.remove(key)?.is_some();
        transaction.commit()?;
        Ok(found)
    }

    fn read(&self, key: i64, value: &mut Vec<u8>) -> Result<bool, Failure> {
        value.clear();
        let mail = match self.database.begin_read()?.open_table(MAIL) {
            Ok(mail) => mail,
            Err(TableError::TableDoesNotExist(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let found = mail.get(key)?;
        if let Some(found) = &found {
            value.extend_from_slice(found.value());
        }
        Ok(found.is_some())
    }
}
