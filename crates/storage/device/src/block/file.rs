//! An open file of a volume, as the seam sees it.

use std::rc::Rc;

use units::Nanos;

use super::file_state::FileState;
use super::state::VolumeState;
use super::transfer::{self, DevicePiece};
use crate::{
    Buffer, Caps, Completed, Completer, Completion, Device, DeviceError, Op, OpenMode, Purpose,
    Request, completion,
};

/// Keeps a file open and locked; requests in flight hold it too.
struct FileHandle {
    volume: Rc<VolumeState>,
    file: Rc<FileState>,
    path: String,
    writable: bool,
}

impl Drop for FileHandle {
    fn drop(&mut self) {
        if self.writable {
            self.file.unlock();
        }
    }
}

/// See the module.
pub(super) struct BlockFile {
    handle: Rc<FileHandle>,
}

impl BlockFile {
    pub(super) fn open(
        volume: &Rc<VolumeState>,
        file: Rc<FileState>,
        path: String,
        mode: OpenMode,
    ) -> Result<Rc<Self>, DeviceError> {
        let writable = mode != OpenMode::ReadOnly;
        if writable && !file.lock() {
            return Err(DeviceError::Locked { file: path });
        }
        let volume = Rc::clone(volume);
        Ok(Rc::new(Self { handle: Rc::new(FileHandle { volume, file, path, writable }) }))
    }
}

impl Device for BlockFile {
    fn submit(&self, request: Request) -> Completion {
        request.op.assert_aligned();
        let (completer, completion) = completion();
        let handle = Rc::clone(&self.handle);
        let Request { purpose, op } = request;
        if !handle.writable && !matches!(op, Op::Read { .. }) {
            let error = DeviceError::PermissionDenied { file: handle.path.clone() };
            handle.refuse(op.into_buffer(), error, completer);
            return completion;
        }
        match op {
            Op::Read { offset, buffer } => handle.read(purpose, offset, buffer, completer),
            Op::Write { offset, .. } => handle.write(purpose, offset, op, completer),
            Op::Flush => {
                let flush = handle.volume.device.submit(Request::flush(purpose));
                drop(flush.on_complete(move |outcome| handle.pass(outcome, 0, completer)));
            }
            Op::SetLength { length } => handle.change_length(length, completer),
        }
        completion
    }

    fn caps(&self) -> Caps {
        Caps { zeroed: true, ..self.handle.volume.device.caps() }
    }

    fn length(&self) -> u64 {
        self.handle.length()
    }

    fn name(&self) -> &str {
        &self.handle.path
    }
}

impl FileHandle {
    fn length(&self) -> u64 {
        self.file.entry.borrow().length
    }

    fn now(&self) -> Nanos {
        self.volume.runtime.now()
    }

    fn refuse(&self, buffer: Option<Buffer>, error: DeviceError, completer: Completer) {
        let now = self.now();
        completer.complete(Completed {
            buffer,
            result: Err(error),
            submitted: now,
            completed: now,
        });
    }

    /// Locations of `length` bytes at `offset`.
    fn pieces(&self, offset: u64, length: usize) -> Vec<DevicePiece> {
        let entry = self.file.entry.borrow();
        let mut found = Vec::new();
        for (place, part) in entry.pieces(offset..offset + length as u64) {
            found.push((place, buffer_offset(part.start)..buffer_offset(part.end)));
        }
        found
    }

    fn write(self: Rc<Self>, purpose: Purpose, offset: u64, op: Op, completer: Completer) {
        let wanted = op.length();
        if offset + wanted as u64 > self.length() {
            let error = self.short(offset, wanted, 0);
            return self.refuse(op.into_buffer(), error, completer);
        }
        let pieces = self.pieces(offset, wanted);
        transfer::start(&Rc::clone(&self).volume.device, (purpose, op), &pieces, {
            self.answer(offset, completer)
        });
    }

    fn read(self: Rc<Self>, purpose: Purpose, offset: u64, buffer: Buffer, completer: Completer) {
        let there = self.length().saturating_sub(offset);
        let moved = usize::try_from(there).map_or(buffer.len(), |there| there.min(buffer.len()));
        if moved == buffer.len() {
            let pieces = self.pieces(offset, moved);
            let op = Op::Read { offset, buffer };
            let device = Rc::clone(&self.volume.device);
            return transfer::start(
                &device,
                (purpose, op),
                &pieces,
                self.answer(offset, completer),
            );
        }
        if moved == 0 {
            let error = self.short(offset, buffer.len(), 0);
            return self.refuse(Some(buffer), error, completer);
        }
        self.read_end(purpose, offset, (buffer, moved), completer);
    }

    /// A read past the end of the file: returns the existing bytes, and an error with their count.
    fn read_end(
        self: Rc<Self>,
        purpose: Purpose,
        offset: u64,
        (mut buffer, moved): (Buffer, usize),
        completer: Completer,
    ) {
        let sector = self.volume.device.caps().sector as usize;
        let part = Buffer::zeroed(moved.next_multiple_of(sector));
        let pieces = self.pieces(offset, part.len());
        let device = Rc::clone(&self.volume.device);
        let (inner, part_read) = completion();
        drop(part_read.on_complete(move |outcome: &mut Completed| {
            let Completed { buffer: part, result, submitted, completed } = transfer::taken(outcome);
            if let Some(part) = part {
                buffer[..moved].copy_from_slice(&part[..moved]);
            }
            let short = self.short(offset, buffer.len(), moved);
            let result = result.map_err(|error| error.of_file(&self.path, offset)).and(Err(short));
            completer.complete(Completed { buffer: Some(buffer), result, submitted, completed });
        }));
        transfer::start(&device, (purpose, Op::Read { offset, buffer: part }), &pieces, inner);
    }

    /// A completer that forwards an outcome, with the name and offset of the file in its error.
    fn answer(self: Rc<Self>, offset: u64, completer: Completer) -> Completer {
        let (inner, done) = completion();
        drop(done.on_complete(move |outcome| self.pass(outcome, offset, completer)));
        inner
    }

    fn pass(&self, outcome: &mut Completed, offset: u64, completer: Completer) {
        let mut outcome = transfer::taken(outcome);
        outcome.result = outcome.result.map_err(|error| error.of_file(&self.path, offset));
        completer.complete(outcome);
    }

    fn short(&self, offset: u64, wanted: usize, moved: usize) -> DeviceError {
        DeviceError::Short { file: self.path.clone(), offset, wanted, moved }
    }

    fn change_length(self: Rc<Self>, length: u64, completer: Completer) {
        let submitted = self.now();
        let (volume, file) = (Rc::clone(&self.volume), Rc::clone(&self.file));
        let runtime = volume.runtime.clone();
        let change = volume.change_length(file, self.path.clone(), length);
        let task = async move {
            let result = change.await;
            let completed = self.now();
            completer.complete(Completed { buffer: None, result, submitted, completed });
        };
        drop(runtime.spawn(task));
    }
}

fn buffer_offset(byte: u64) -> usize {
    usize::try_from(byte).expect("invariant: inside a buffer")
}
