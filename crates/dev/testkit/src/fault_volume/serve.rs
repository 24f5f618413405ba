//! Answers the kernel's requests.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use nix::sys::statvfs::{Statvfs, statvfs};

use super::backing::{Served, allocate, fsync, options};
use super::rule::Access;
use super::transfer;

/// The kernel caches no names and attributes, as for a network file system.
const NO_CACHE: Duration = Duration::ZERO;

/// Maximum number of background requests that the kernel sends at the same time.
const IN_FLIGHT: u16 = 256;

/// Every handle bypasses the page cache.
const DIRECT: FopenFlags =
    FopenFlags::FOPEN_DIRECT_IO.union(FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES);

macro_rules! answer {
    ($reply:ident, $result:expr, $good:expr) => {
        match $result {
            Ok(value) => $good(value),
            Err(error) => $reply.error(Errno::from(error)),
        }
    };
}

impl Filesystem for Served {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Without asynchronous direct I/O, requests would arrive one at a time.
        if config.add_capabilities(InitFlags::FUSE_ASYNC_DIO).is_err() {
            return Err(nix::errno::Errno::ENOSYS.into());
        }
        // If a value is refused, the previous one is good enough.
        let _ = config.set_max_background(IN_FLIGHT);
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        answer!(reply, self.entry(parent, name), |attr| {
            reply.entry(&NO_CACHE, &attr, Generation(0));
        });
    }

    fn getattr(&self, _: &Request, id: INodeNo, fh: Option<FileHandle>, reply: ReplyAttr) {
        answer!(reply, self.look(id, fh), |attr| reply.attr(&NO_CACHE, &attr));
    }

    fn setattr(
        &self,
        _: &Request,
        id: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        fh: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        answer!(reply, self.set_size(id, size, fh), |attr| {
            reply.attr(&NO_CACHE, &attr);
        });
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let made = self.child(parent, name).and_then(|(path, _)| {
            fs::DirBuilder::new().mode(mode).create(path)?;
            self.entry(parent, name)
        });
        answer!(reply, made, |attr| {
            reply.entry(&NO_CACHE, &attr, Generation(0));
        });
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer!(reply, self.remove(parent, name, |path| fs::remove_file(path)), |()| {
            reply.ok();
        });
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer!(reply, self.remove(parent, name, |path| fs::remove_dir(path)), |()| {
            reply.ok();
        });
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        answer!(reply, self.move_child((parent, name), (new_parent, new_name)), |()| reply.ok());
    }

    fn open(&self, _: &Request, id: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let opened = self.path(id).and_then(|path| options(flags).open(path));
        answer!(reply, opened, |file| reply.opened(self.keep(file), DIRECT));
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let created = self.create_file(parent, name, mode, flags);
        answer!(reply, created, |(attr, handle)| {
            reply.created(&NO_CACHE, &attr, Generation(0), handle, DIRECT);
        });
    }

    fn read(
        &self,
        _: &Request,
        id: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let (decision, file) = (self.decide(id, offset, Access::Read), self.file(fh));
        self.after(
            decision.wait,
            move || transfer::read(&*file?, offset, size as usize, decision.fault),
            |read| {
                answer!(reply, read, |bytes: Vec<u8>| reply.data(&bytes));
            },
        );
    }

    fn write(
        &self,
        _: &Request,
        id: INodeNo,
        fh: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let (decision, file) = (self.decide(id, offset, Access::Write), self.file(fh));
        let data = data.to_vec();
        let length = u32::try_from(data.len()).unwrap_or(u32::MAX);
        self.after(
            decision.wait,
            move || transfer::write(&*file?, offset, &data, decision.fault),
            move |written| {
                answer!(reply, written, |()| reply.written(length));
            },
        );
    }

    fn fsync(&self, _: &Request, id: INodeNo, fh: FileHandle, data_only: bool, reply: ReplyEmpty) {
        // A flush concerns the whole file, so its offset must not look like the header's.
        let (decision, file) = (self.decide(id, u64::MAX, Access::Flush), self.file(fh));
        self.after(
            decision.wait,
            move || fsync(&*file?, data_only, decision.fault),
            |done| answer!(reply, done, |()| reply.ok()),
        );
    }

    fn fsyncdir(&self, _: &Request, id: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let done = self.path(id).and_then(File::open).and_then(|file| file.sync_all());
        answer!(reply, done, |()| reply.ok());
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.close(fh);
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        id: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let list = match self.list(id) {
            Ok(list) => list,
            Err(error) => return reply.error(Errno::from(error)),
        };
        let done = usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = list.into_iter().zip(1..).skip(done);
        for ((id, kind, name), next) in rest {
            if reply.add(INodeNo(id), next, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, id: INodeNo, reply: ReplyStatfs) {
        let decision = self.decide(id, 0, Access::Space);
        let backing = self.backing().to_owned();
        self.after(
            decision.wait,
            move || statvfs(&backing).map_err(io::Error::from),
            |found| {
                answer!(reply, found, |found: Statvfs| {
                    reply.statfs(
                        found.blocks(),
                        found.blocks_free(),
                        found.blocks_available(),
                        found.files(),
                        found.files_free(),
                        u32::try_from(found.block_size()).unwrap_or(4_096),
                        255,
                        u32::try_from(found.fragment_size()).unwrap_or(4_096),
                    );
                });
            },
        );
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = self.file(fh).and_then(|file| allocate(&file, mode, offset, length));
        answer!(reply, done, |()| reply.ok());
    }
}
