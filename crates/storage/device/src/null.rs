//! A device that completes immediately without any work, so that only the cost of everything above
//! it remains.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::ready;
use std::rc::Rc;

use crate::{
    Caps, Clock, Completed, Completion, Device, DeviceError, FileEntry, OpenMode, Pending, Request,
    Volume, completion,
};

/// A folder of files that have a name and a length, discard writes, and read as zeros.
pub struct NullVolume {
    clock: Rc<dyn Clock>,
    lengths: Rc<RefCell<BTreeMap<String, Rc<Cell<u64>>>>>,
}

struct NullDevice {
    name: String,
    clock: Rc<dyn Clock>,
    length: Rc<Cell<u64>>,
}

impl NullVolume {
    /// An empty folder whose outcomes are dated by `clock`.
    #[cfg(test)]
    pub(crate) fn new(clock: Rc<dyn Clock>) -> Self {
        Self { clock, lengths: Rc::default() }
    }

    fn find(&self, file: &str) -> Result<Rc<Cell<u64>>, DeviceError> {
        let found = self.lengths.borrow().get(file).map(Rc::clone);
        found.ok_or_else(|| DeviceError::NotFound { file: file.to_owned() })
    }

    fn create(&self, file: &str, length: u64) -> Result<Rc<Cell<u64>>, DeviceError> {
        if self.find(file).is_ok() {
            return Err(DeviceError::AlreadyExists { file: file.to_owned() });
        }
        let cell = Rc::new(Cell::new(length));
        self.lengths.borrow_mut().insert(file.to_owned(), Rc::clone(&cell));
        Ok(cell)
    }

    fn take(&self, file: &str) -> Result<Rc<Cell<u64>>, DeviceError> {
        let found = self.find(file)?;
        self.lengths.borrow_mut().remove(file);
        Ok(found)
    }
}

impl Volume for NullVolume {
    fn open(&self, file: &str, mode: OpenMode) -> Pending<Rc<dyn Device>> {
        let length = match mode.new_length() {
            Some(length) => self.create(file, length),
            None => self.find(file),
        };
        let device = length.map(|length| {
            Rc::new(NullDevice { name: file.to_owned(), clock: Rc::clone(&self.clock), length })
                as Rc<dyn Device>
        });
        Box::pin(ready(device))
    }

    fn rename(&self, from: &str, to: &str) -> Pending<()> {
        let moved = self.take(from).map(|length| {
            self.lengths.borrow_mut().insert(to.to_owned(), length);
        });
        Box::pin(ready(moved))
    }

    fn remove(&self, file: &str) -> Pending<()> {
        Box::pin(ready(self.take(file).map(drop)))
    }

    fn list(&self) -> Pending<Vec<FileEntry>> {
        let lengths = self.lengths.borrow();
        let entries = lengths
            .iter()
            .map(|(name, length)| FileEntry { name: name.clone(), length: length.get() });
        Box::pin(ready(Ok(entries.collect())))
    }

    fn free_bytes(&self) -> Pending<u64> {
        Box::pin(ready(Ok(u64::MAX)))
    }

    fn name(&self) -> &'static str {
        "null"
    }
}

impl Device for NullDevice {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        let now = self.clock.now();
        let mut op = request.op;
        match &mut op {
            crate::Op::Read { buffer, .. } => buffer.fill(0),
            crate::Op::SetLength { length } => self.length.set(*length),
            crate::Op::Write { .. } | crate::Op::Flush => {}
        }
        completer.complete(Completed {
            buffer: op.into_buffer(),
            result: Ok(()),
            submitted: now,
            completed: now,
        });
        completion
    }

    fn caps(&self) -> Caps {
        Caps {
            atomic_write_unit: 512,
            sector: 512,
            physical_sector: 512,
            volatile_cache: false,
            unbuffered: true,
            zeroed: true,
        }
    }

    fn length(&self) -> u64 {
        self.length.get()
    }

    fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::NullVolume;
    use crate::{
        Buffer, DeviceError, Executor, OpenMode, Purpose, Reactor, Request, VirtualReactor, Volume,
    };

    #[test]
    fn reads_are_zeros_at_once_and_files_keep_name_and_length() {
        let reactor = VirtualReactor::new();
        let volume = NullVolume::new(reactor.clock());
        Executor::new(Rc::<VirtualReactor>::clone(&reactor)).block_on(async move {
            let mode = OpenMode::CreateNew { length: 8_192 };
            let device = volume.open("one", mode).await.unwrap();
            let dirty = Buffer::copy_of(&[7; 4_096]);
            let read = Request::read_into(Purpose::Database, 0, dirty);
            let bytes = device.submit(read).await.into_buffer().unwrap();
            assert!(bytes.iter().all(|&byte| byte == 0));
            volume.rename("one", "two").await.unwrap();
            assert_eq!(volume.list().await.unwrap()[0].name, "two");
            let missing = volume.remove("one").await;
            assert!(matches!(missing, Err(DeviceError::NotFound { .. })));
        });
        assert_eq!(reactor.now(), units::Nanos::ZERO);
    }
}
