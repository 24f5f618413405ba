//! Keys that several hosts change by compare-and-set: which host serves a volume, and where its
//! data are. The server counts revisions and expires entries; callers get answers on another
//! thread, or no answer.

use std::future::Future;
use std::time::Duration;

use async_nats::jetstream::kv::{self, Operation};
use async_nats::jetstream::stream::{Config, DiscardPolicy};
use tokio::runtime::Handle;

use crate::{Carrier, CarrierError};

/// Requests time out after this; the server may still carry them out.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);

/// The server's answer about a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyAnswer {
    /// The caller's value is in force, at this revision.
    Stored(u64),
    /// This value is in force.
    Present {
        /// Its revision.
        revision: u64,
        /// The value.
        value: Vec<u8>,
    },
    /// There is no value: it was never set, was removed, or has expired.
    Absent,
}

/// Gets an answer, on another thread. Boxed, so that the client's code is compiled in this crate
/// alone and not for every closure.
pub type KeyListener = Box<dyn FnOnce(KeyAnswer) + Send>;

/// A bucket of keys. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Bucket {
    handle: Handle,
    store: kv::Store,
}

impl Carrier {
    /// Opens the bucket `name`, and makes it if it does not exist. Values expire `expires_after`
    /// their last change, or never.
    ///
    /// # Errors
    /// If the bucket exists with another expiry: hosts that disagree about it must not share keys.
    pub fn bucket(
        &self,
        name: &str,
        expires_after: Option<Duration>,
    ) -> Result<Bucket, CarrierError> {
        let expiry = expires_after.unwrap_or(Duration::ZERO);
        let window = expires_after.unwrap_or(ANSWERS_WITHIN).min(ANSWERS_WITHIN);
        let stream = stream_of(name, expiry, window);
        let made = self.make_stream("make a bucket of keys", &stream)?;
        let found = made.cached_info().config.max_age;
        if found != expiry {
            let why = format!(
                "bucket {name} expires its keys after {} ms, not {} ms; give all hosts and volumes \
                 the same lease, or use another server",
                found.as_millis(),
                expiry.as_millis()
            );
            return Err(CarrierError::Refused { what: "open a bucket of keys", why });
        }
        let store =
            self.ask_again("open a bucket of keys", || self.jetstream.get_key_value(name))?;
        Ok(Bucket { handle: self.runtime.handle().clone(), store })
    }

    /// The present value of `key`.
    pub fn read_key(&self, bucket: &Bucket, key: &str) -> Result<KeyAnswer, CarrierError> {
        let entry = self.ask_again("read a key", || bucket.store.entry(key))?;
        Ok(entry.map_or(KeyAnswer::Absent, answer_of))
    }

    /// Sets `key` if it has no value.
    pub fn create_key(
        &self,
        bucket: &Bucket,
        key: &str,
        value: Vec<u8>,
    ) -> Result<KeyAnswer, CarrierError> {
        match self.wait("create a key", bucket.store.create(key, value.into())) {
            Ok(revision) => Ok(KeyAnswer::Stored(revision)),
            Err(error) => match self.read_key(bucket, key)? {
                KeyAnswer::Absent => Err(error),
                present => Ok(present),
            },
        }
    }
}

/// Configuration of the stream below a bucket, for creating it directly: before creating a bucket,
/// the client asks a server for more account information than nats-server 2.9 provides.
pub(crate) fn stream_of(name: &str, max_age: Duration, duplicate_window: Duration) -> Config {
    Config {
        name: format!("KV_{name}"),
        subjects: vec![format!("$KV.{name}.>")],
        max_messages_per_subject: 1,
        max_age,
        duplicate_window,
        discard: DiscardPolicy::New,
        deny_delete: true,
        allow_rollup: true,
        allow_direct: true,
        ..Config::default()
    }
}

impl Bucket {
    /// Reads `key`; `then` gets the answer, or is dropped if the server gives none.
    pub fn read(&self, key: String, then: KeyListener) {
        let store = self.store.clone();
        self.ask(async move { present(&store, &key).await }, then);
    }

    /// Sets `key` if it has no value.
    pub fn create(&self, key: String, value: Vec<u8>, then: KeyListener) {
        let store = self.store.clone();
        let asked = async move {
            match store.create(&key, value.into()).await {
                Ok(revision) => Some(KeyAnswer::Stored(revision)),
                Err(_) => present(&store, &key).await.filter(|found| *found != KeyAnswer::Absent),
            }
        };
        self.ask(asked, then);
    }

    /// Replaces the value at `revision`.
    pub fn replace(&self, key: String, revision: u64, value: Vec<u8>, then: KeyListener) {
        let store = self.store.clone();
        let asked = async move {
            match store.update(&key, value.into(), revision).await {
                Ok(revision) => Some(KeyAnswer::Stored(revision)),
                // If the revision is still the expected one, it was the server that failed, so
                // there is no answer.
                Err(_) => present(&store, &key).await.filter(|found| {
                    !matches!(found, KeyAnswer::Present { revision: now, .. } if *now == revision)
                }),
            }
        };
        self.ask(asked, then);
    }

    /// Removes the value at `revision`, if it is still in force.
    pub fn remove(&self, key: String, revision: u64) {
        let store = self.store.clone();
        self.ask(
            async move {
                store.delete_expect_revision(&key, Some(revision)).await.ok()?;
                Some(KeyAnswer::Absent)
            },
            Box::new(drop),
        );
    }

    fn ask(
        &self,
        asked: impl Future<Output = Option<KeyAnswer>> + Send + 'static,
        then: KeyListener,
    ) {
        self.handle.spawn(async move {
            if let Ok(Some(answer)) = tokio::time::timeout(ANSWERS_WITHIN, asked).await {
                then(answer);
            }
        });
    }
}

/// The value in force; `None` if the server does not answer.
async fn present(store: &kv::Store, key: &str) -> Option<KeyAnswer> {
    let entry = store.entry(key).await.ok()?;
    Some(entry.map_or(KeyAnswer::Absent, answer_of))
}

fn answer_of(entry: kv::Entry) -> KeyAnswer {
    match entry.operation {
        Operation::Put => {
            KeyAnswer::Present { revision: entry.revision, value: entry.value.into() }
        }
        Operation::Delete | Operation::Purge => KeyAnswer::Absent,
    }
}
