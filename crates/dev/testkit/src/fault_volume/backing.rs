//! The backing folder, with the inode numbers and handles that the kernel uses for its files.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use fuser::{FileAttr, FileHandle, FileType, INodeNo, OpenAccMode, OpenFlags};
use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};

use super::ids::InodeIds;
use super::rule::{Access, Fault, FileKind};
use super::switch::{Reaction, Switch, Wait};

/// The backing folder as the kernel sees it.
pub(super) struct Served {
    backing: PathBuf,
    switch: Arc<Switch>,
    ids: Mutex<InodeIds>,
    handles: Mutex<Handles>,
}

#[derive(Default)]
struct Handles {
    open: HashMap<u64, Arc<File>>,
    next: u64,
}

impl Served {
    pub(super) fn new(backing: PathBuf, switch: Arc<Switch>) -> Self {
        Self { backing, switch, ids: Mutex::new(InodeIds::new()), handles: Mutex::default() }
    }

    pub(super) fn backing(&self) -> &Path {
        &self.backing
    }

    pub(super) fn ids(&self) -> MutexGuard<'_, InodeIds> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.handles.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn keep(&self, file: File) -> FileHandle {
        let handles = &mut *self.handles();
        handles.next += 1;
        handles.open.insert(handles.next, Arc::new(file));
        FileHandle(handles.next)
    }

    pub(super) fn close(&self, handle: FileHandle) {
        self.handles().open.remove(&handle.0);
    }

    pub(super) fn file(&self, handle: FileHandle) -> io::Result<Arc<File>> {
        let found = self.handles().open.get(&handle.0).cloned();
        found.ok_or_else(|| Errno::EBADF.into())
    }

    pub(super) fn path(&self, id: INodeNo) -> io::Result<PathBuf> {
        let found = self.ids().path(id.0).map(|path| self.backing.join(path));
        found.ok_or_else(|| Errno::ESTALE.into())
    }

    /// The full path in the backing folder, and the path relative to it.
    pub(super) fn child(&self, parent: INodeNo, name: &OsStr) -> io::Result<(PathBuf, PathBuf)> {
        let found = self.ids().child(parent.0, name);
        let below = found.ok_or(Errno::ESTALE)?;
        Ok((self.backing.join(&below), below))
    }

    pub(super) fn entry(&self, parent: INodeNo, name: &OsStr) -> io::Result<FileAttr> {
        let (path, below) = self.child(parent, name)?;
        let found = fs::symlink_metadata(path)?;
        Ok(attributes(self.ids().id(&below), &found))
    }

    /// The attributes of a file; by its handle if its name has been removed.
    pub(super) fn look(&self, id: INodeNo, handle: Option<FileHandle>) -> io::Result<FileAttr> {
        let found = match handle {
            Some(handle) => self.file(handle)?.metadata()?,
            None => fs::symlink_metadata(self.path(id)?)?,
        };
        Ok(attributes(id.0, &found))
    }

    pub(super) fn create_file(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: i32,
    ) -> io::Result<(FileAttr, FileHandle)> {
        let (path, _) = self.child(parent, name)?;
        let mut options = options(OpenFlags(flags));
        let file = options.create(true).mode(mode).open(path)?;
        Ok((self.entry(parent, name)?, self.keep(file)))
    }

    pub(super) fn set_size(
        &self,
        id: INodeNo,
        size: Option<u64>,
        handle: Option<FileHandle>,
    ) -> io::Result<FileAttr> {
        if let Some(size) = size {
            match handle {
                Some(handle) => self.file(handle)?.set_len(size)?,
                None => OpenOptions::new().write(true).open(self.path(id)?)?.set_len(size)?,
            }
        }
        self.look(id, handle)
    }

    pub(super) fn list(&self, folder: INodeNo) -> io::Result<Vec<(u64, FileType, OsString)>> {
        let mut entries = vec![
            (folder.0, FileType::Directory, ".".into()),
            (folder.0, FileType::Directory, "..".into()),
        ];
        let mut found: Vec<_> = fs::read_dir(self.path(folder)?)?.collect::<Result<_, _>>()?;
        found.sort_by_key(fs::DirEntry::file_name);
        for entry in found {
            let (_, below) = self.child(folder, &entry.file_name())?;
            let kind = FileType::from_std(entry.file_type()?).unwrap_or(FileType::RegularFile);
            entries.push((self.ids().id(&below), kind, entry.file_name()));
        }
        Ok(entries)
    }

    pub(super) fn decide(&self, id: INodeNo, offset: u64, access: Access) -> Reaction {
        let kind = self.ids().path(id.0).and_then(|path| FileKind::of(path, offset));
        self.switch.decide(kind, access)
    }

    /// Does `work` and passes its result to `answer`: at once, or on a separate thread if it must
    /// wait. A delay counts from the arrival of the request, so the time of the work is included in
    /// it.
    pub(super) fn after<T>(
        &self,
        wait: Wait,
        work: impl FnOnce() -> T + Send + 'static,
        answer: impl FnOnce(T) + Send + 'static,
    ) {
        let (arrived, switch) = (Instant::now(), Arc::clone(&self.switch));
        match wait {
            Wait::No => answer(work()),
            Wait::For(time) => drop(std::thread::spawn(move || {
                let result = work();
                std::thread::sleep(time.saturating_sub(arrived.elapsed()));
                answer(result);
            })),
            Wait::WhileVersion(version) => drop(std::thread::spawn(move || {
                switch.wait_while(version);
                answer(work());
            })),
        }
    }

    /// Moves a child to the folder and name `to`.
    pub(super) fn move_child(
        &self,
        (parent, name): (INodeNo, &OsStr),
        to: (INodeNo, &OsStr),
    ) -> io::Result<()> {
        let (from, from_below) = self.child(parent, name)?;
        let (to, to_below) = self.child(to.0, to.1)?;
        fs::rename(from, to)?;
        self.ids().rename(&from_below, &to_below);
        Ok(())
    }

    pub(super) fn remove(
        &self,
        parent: INodeNo,
        name: &OsStr,
        remove: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let (path, below) = self.child(parent, name)?;
        remove(&path)?;
        self.ids().remove(&below);
        Ok(())
    }
}

pub(super) fn options(flags: OpenFlags) -> OpenOptions {
    let mut options = OpenOptions::new();
    // The backing file is opened with caching, because the kernel may pass on parts of a sector,
    // and never truncated.
    options.read(true).write(flags.acc_mode() != OpenAccMode::O_RDONLY);
    options
}

fn attributes(id: u64, found: &Metadata) -> FileAttr {
    FileAttr {
        ino: INodeNo(id),
        size: found.len(),
        blocks: found.blocks(),
        atime: found.accessed().unwrap_or(SystemTime::UNIX_EPOCH),
        mtime: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        ctime: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
        crtime: SystemTime::UNIX_EPOCH,
        kind: FileType::from_std(found.file_type()).unwrap_or(FileType::RegularFile),
        perm: u16::try_from(found.permissions().mode() & 0o7777).unwrap_or(0o600),
        nlink: u32::try_from(found.nlink()).unwrap_or(1),
        uid: found.uid(),
        gid: found.gid(),
        rdev: 0,
        blksize: 4_096,
        flags: 0,
    }
}

pub(super) fn fsync(file: &File, data_only: bool, fault: Option<Fault>) -> io::Result<()> {
    match fault {
        Some(Fault::Drop) => Ok(()),
        Some(Fault::Full) => Err(Errno::ENOSPC.into()),
        Some(_) => Err(Errno::EIO.into()),
        None if data_only => file.sync_data(),
        None => file.sync_all(),
    }
}

pub(super) fn allocate(file: &File, mode: i32, offset: u64, length: u64) -> io::Result<()> {
    let (Ok(offset), Ok(length)) = (i64::try_from(offset), i64::try_from(length)) else {
        return Err(Errno::EFBIG.into());
    };
    fallocate(file, FallocateFlags::from_bits_truncate(mode), offset, length)?;
    Ok(())
}
