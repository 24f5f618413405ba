//! A decorator that reports every request to an observer, as the source of histograms and journals.
//!
//! It adds no task and no delay: the report is made inside the completion.

use std::rc::Rc;

use units::Nanos;

use crate::{
    Completion, Device, DeviceError, Durability, FileEntry, Op, OpKind, OpenMode, Pending, Purpose,
    Request, Volume,
};

/// One finished request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    /// Purpose of the request.
    pub purpose: Purpose,
    /// Kind of the request.
    pub kind: OpKind,
    /// Byte offset; the new length for a change of length, 0 for a flush.
    pub offset: u64,
    /// Bytes asked for.
    pub length: usize,
    /// Time when it was passed to the device.
    pub submitted: Nanos,
    /// Time when its completion was noticed.
    pub completed: Nanos,
    /// Whether it succeeded.
    pub ok: bool,
}

/// A request, or an operation on names, that is about to be passed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Path of the file, or of the folder.
    pub file: Rc<str>,
    /// The operation in a word: `read`, `flush`, `open`.
    pub operation: &'static str,
    /// Purpose and kind of a request; `None` for an operation on names.
    pub request: Option<(Purpose, OpKind)>,
    /// Byte offset; the new length for a change of length, otherwise 0.
    pub offset: u64,
    /// Bytes asked for.
    pub length: usize,
}

/// Receives every request. Called between two polls of tasks, so it must not block.
pub trait Observer {
    /// An operation on the storage is about to start. The number that this returns is passed to
    /// [`Observer::answered`].
    fn asked(&self, asked: Asked) -> usize {
        let _ = asked;
        0
    }

    /// The operation for which [`Observer::asked`] returned `number` has been answered,
    /// successfully or not. For a request this is called before it is observed.
    fn answered(&self, number: usize) {
        let _ = number;
    }

    /// One request has finished.
    fn observe(&self, observation: &Observation);

    /// A request has failed; called before it is observed.
    fn failed(&self, observation: &Observation, error: &DeviceError) {
        let _ = (observation, error);
    }

    /// A file could not be opened, created, renamed or removed. Callers often try files that may
    /// not exist, so most of these are harmless.
    fn refused(&self, error: &DeviceError) {
        let _ = error;
    }
}

/// A volume whose devices report to an observer.
pub struct TracedVolume {
    inner: Rc<dyn Volume>,
    observer: Rc<dyn Observer>,
}

struct TracedDevice {
    inner: Rc<dyn Device>,
    name: Rc<str>,
    observer: Rc<dyn Observer>,
}

impl TracedVolume {
    /// Reports the events on `inner` to `observer`.
    pub fn new(inner: Rc<dyn Volume>, observer: Rc<dyn Observer>) -> Self {
        Self { inner, observer }
    }

    /// Notifies the observer that `operation` on `file` has started, and when it is answered.
    fn followed<T: 'static>(
        &self,
        file: String,
        operation: &'static str,
        answer: Pending<T>,
    ) -> Pending<T> {
        let observer = Rc::clone(&self.observer);
        Box::pin(async move {
            let number = observer.asked(Asked {
                file: file.into(),
                operation,
                request: None,
                offset: 0,
                length: 0,
            });
            let outcome = answer.await;
            observer.answered(number);
            outcome
        })
    }

    /// Also reports a failure of the operation to the observer.
    fn told<T: 'static>(
        &self,
        file: &str,
        operation: &'static str,
        answer: Pending<T>,
    ) -> Pending<T> {
        let path = format!("{}/{file}", self.inner.name());
        let answer = self.followed(path, operation, answer);
        let observer = Rc::clone(&self.observer);
        Box::pin(async move { answer.await.inspect_err(|error| observer.refused(error)) })
    }
}

impl Volume for TracedVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        // A created or renamed file is flushed within the same operation.
        let operation = match mode.new_length() {
            Some(_) => "creation and its flush",
            None => "open",
        };
        let opening = self.told(file, operation, self.inner.open(file, mode));
        let observer = Rc::clone(&self.observer);
        Box::pin(async move {
            let inner = opening.await?;
            let name = inner.name().into();
            Ok(Rc::new(TracedDevice { inner, name, observer }) as Rc<dyn Device>)
        })
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        self.told(from, "rename and its flush", self.inner.rename(from, to))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        self.told(file, "removal and its flush", self.inner.remove(file))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let folder = self.inner.name().to_owned();
        self.followed(folder, "listing", self.inner.list())
    }

    fn free_bytes(&self) -> Pending<u64> {
        let folder = self.inner.name().to_owned();
        self.followed(folder, "question for free space", self.inner.free_bytes())
    }

    fn name(&self) -> &str {
        self.inner.name()
    }
}

impl Device for TracedDevice {
    fn submit(&self, request: Request) -> Completion {
        let (purpose, kind) = (request.purpose, request.op.kind());
        let length = request.op.length();
        let offset = match request.op {
            Op::Read { offset, .. } | Op::Write { offset, .. } => offset,
            Op::SetLength { length } => length,
            Op::Flush => 0,
        };
        let operation = match request.op {
            Op::Write { durability: Durability::Durable, .. } => "durable write",
            _ => kind.name(),
        };
        let observer = Rc::clone(&self.observer);
        let number = observer.asked(Asked {
            file: Rc::clone(&self.name),
            operation,
            request: Some((purpose, kind)),
            offset,
            length,
        });
        self.inner.submit(request).on_complete(move |outcome| {
            observer.answered(number);
            let observation = Observation {
                purpose,
                kind,
                offset,
                length,
                submitted: outcome.submitted,
                completed: outcome.completed,
                ok: outcome.result.is_ok(),
            };
            if let Err(error) = &outcome.result {
                observer.failed(&observation, error);
            }
            observer.observe(&observation);
        })
    }

    crate::same_as_inner!();
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use units::Nanos;

    use super::{Observation, Observer, TracedVolume};
    use crate::{
        DeviceError, Executor, Latency, MemoryVolume, OpKind, OpenMode, Purpose, Request,
        VirtualReactor, Volume, conformance,
    };

    #[derive(Default)]
    struct Seen(RefCell<Vec<Observation>>, RefCell<Vec<DeviceError>>);

    impl Observer for Seen {
        fn observe(&self, observation: &Observation) {
            self.0.borrow_mut().push(*observation);
        }

        fn failed(&self, _: &Observation, error: &DeviceError) {
            self.1.borrow_mut().push(error.clone());
        }
    }

    fn world() -> (Executor, Rc<dyn Volume>, Rc<Seen>) {
        let reactor = VirtualReactor::new();
        let memory = MemoryVolume::new("memory", &reactor, Latency::fixed(Nanos(10)));
        let seen = Rc::new(Seen::default());
        let volume = TracedVolume::new(Rc::new(memory), Rc::<Seen>::clone(&seen));
        (Executor::new(reactor), Rc::new(volume), seen)
    }

    #[test]
    fn conforms() {
        let (executor, volume, _) = world();
        conformance::check_all(&executor, &volume);
    }

    #[test]
    fn every_request_is_seen_even_one_without_a_waiter() {
        let (executor, volume, seen) = world();
        let runtime = executor.runtime();
        executor.block_on(async move {
            let mode = OpenMode::CreateNew { length: 8_192 };
            let device = volume.open("file", mode).await.unwrap();
            drop(device.submit(Request::read(Purpose::Maintenance, 4_096, 4_096)));
            let beyond = device.submit(Request::read(Purpose::Checksum, 8_192, 4_096));
            assert!(beyond.await.result.is_err());
            runtime.sleep(Nanos(50)).await;
        });
        let maintenance = Observation {
            purpose: Purpose::Maintenance,
            kind: OpKind::Read,
            offset: 4_096,
            length: 4_096,
            submitted: Nanos(10),
            completed: Nanos(20),
            ok: true,
        };
        let beyond =
            Observation { purpose: Purpose::Checksum, offset: 8_192, ok: false, ..maintenance };
        assert_eq!(*seen.0.borrow(), [maintenance, beyond]);
        let short = DeviceError::Short {
            file: "memory/file".to_owned(),
            offset: 8_192,
            wanted: 4_096,
            moved: 0,
        };
        assert_eq!(*seen.1.borrow(), [short]);
    }
}
