//! Safe functions for system calls that the standard library lacks.
#![expect(unsafe_code, reason = "system calls; each block has its argument")]

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use crate::probe::FileMark;

fn check(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

fn signed(value: u64) -> io::Result<libc::off_t> {
    libc::off_t::try_from(value).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))
}

/// Allocates the bytes `from..to` of `file` and makes it at least `to` long.
pub(super) fn allocate(file: &File, from: u64, to: u64) -> io::Result<()> {
    let (offset, length) = (signed(from)?, signed(to - from)?);
    loop {
        // SAFETY: takes only integers; the descriptor is open as long as `file` is borrowed.
        match check(unsafe { libc::fallocate(file.as_raw_fd(), 0, offset, length) }) {
            Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
            result => return result.map(drop),
        }
    }
}

/// Frees the storage of the bytes `from..to` of `file`; they read as zeros afterwards.
pub(super) fn punch_hole(file: &File, from: u64, to: u64) -> io::Result<()> {
    let (offset, length) = (signed(from)?, signed(to - from)?);
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    // SAFETY: takes only integers; the descriptor is open as long as `file` is borrowed.
    check(unsafe { libc::fallocate(file.as_raw_fd(), mode, offset, length) }).map(drop)
}

/// The first byte of `file` at or after `from` that occupies storage; `None` if there is none.
/// Moves the file position.
pub(super) fn next_data(file: &File, from: u64) -> io::Result<Option<u64>> {
    match seek(file, from, libc::SEEK_DATA) {
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        found => found.map(Some),
    }
}

/// The first byte of `file` at or after `from` that occupies no storage, or the end of the file.
pub(super) fn next_hole(file: &File, from: u64) -> io::Result<u64> {
    seek(file, from, libc::SEEK_HOLE)
}

fn seek(file: &File, from: u64, whence: libc::c_int) -> io::Result<u64> {
    // SAFETY: takes only integers; the descriptor is open as long as `file` is borrowed.
    let found = unsafe { libc::lseek(file.as_raw_fd(), signed(from)?, whence) };
    u64::try_from(found).map_err(|_| io::Error::last_os_error())
}

/// Requests that the empty `file` be overwritten in place (`FS_NOCOW_FL` of linux/fs.h). A
/// copy-on-write file system needs free space for every overwrite and may tear a page when it runs
/// out; other file systems do not know the flag and do not need it.
pub(super) fn overwrite_in_place(file: &File) -> io::Result<()> {
    const FS_NOCOW_FL: libc::c_int = 0x0080_0000;
    let mut flags: libc::c_int = 0;
    // SAFETY: the pointer is to a live `int`, the type that this call writes for regular files.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) })?;
    flags |= FS_NOCOW_FL;
    // SAFETY: the pointer is to a live `int`, which the call only reads.
    check(unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_SETFLAGS, &raw const flags) })?;
    Ok(())
}

/// The flags of a file or folder (`ioctl_iflags(2)`); empty if it has none.
pub(super) fn marks(file: &File) -> Vec<FileMark> {
    const FS_COMPR_FL: libc::c_int = 0x0000_0004;
    const FS_ENCRYPT_FL: libc::c_int = 0x0000_0800;
    const FS_NOCOW_FL: libc::c_int = 0x0080_0000;
    let mut flags: libc::c_int = 0;
    // SAFETY: the pointer is to a live `int`, the type that this call writes.
    let asked = unsafe { libc::ioctl(file.as_raw_fd(), libc::FS_IOC_GETFLAGS, &raw mut flags) };
    if check(asked).is_err() {
        return Vec::new();
    }
    [
        (FS_COMPR_FL, FileMark::Compressed),
        (FS_ENCRYPT_FL, FileMark::Encrypted),
        (FS_NOCOW_FL, FileMark::OverwrittenInPlace),
    ]
    .into_iter()
    .filter_map(|(flag, mark)| (flags & flag != 0).then_some(mark))
    .collect()
}

/// A counter that wakes a poll: written by helper threads, watched by the ring.
pub(super) fn event_counter() -> io::Result<File> {
    // SAFETY: takes only integers.
    let descriptor = check(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
    // SAFETY: the call above returned this descriptor, so it is open and has no other owner.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// Makes reads and writes of `file` fail instead of waiting, for all who share it.
pub(super) fn set_nonblocking(file: &File) -> io::Result<()> {
    let descriptor = file.as_raw_fd();
    // SAFETY: takes only integers, and the descriptor is open.
    let flags = check(unsafe { libc::fcntl(descriptor, libc::F_GETFL) })?;
    // SAFETY: takes only integers, and the descriptor is open.
    check(unsafe { libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
    Ok(())
}

/// Waits until one of `events` of poll(2) is reported for a socket, or an error.
pub(super) fn wait_for(socket: &OwnedFd, events: i16) {
    loop {
        let mut asked = libc::pollfd { fd: socket.as_raw_fd(), events, revents: 0 };
        // SAFETY: the pointer is to one live `pollfd`, as the count says.
        let found = check(unsafe { libc::poll(&raw mut asked, 1, -1) });
        if !found.is_err_and(|error| error.raw_os_error() == Some(libc::EINTR)) {
            return; // A socket that is in error is ready: the next call reports it.
        }
    }
}

/// Time since the machine was started, including sleep; `None` if the kernel does not report it.
pub(crate) fn boot_clock() -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::uninit();
    // SAFETY: the pointer is to a live `timespec`, which the call only writes to.
    check(unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, time.as_mut_ptr()) }).ok()?;
    // SAFETY: the call succeeded, so it filled the structure, which is plain integers.
    let time = unsafe { time.assume_init() };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(Duration::new(seconds, u32::try_from(time.tv_nsec).ok()?))
}

/// Raises this process's limit on open files as far as permitted, and returns it.
pub(crate) fn raise_open_files() -> io::Result<u64> {
    raise(LimitedResource::OpenFiles)
}

/// Raises the limit on file sizes as far as permitted, in bytes, and ignores `SIGXFSZ`, so that a
/// write beyond the limit fails with `EFBIG` (setrlimit(2)) instead of killing the process.
pub(crate) fn raise_file_size() -> io::Result<u64> {
    // SAFETY: takes only integers, and replaces no handler of this program.
    let before = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    if before == libc::SIG_ERR {
        return Err(io::Error::last_os_error());
    }
    raise(LimitedResource::FileSize)
}

/// Length in bytes beyond which no file of this process may grow, even if it raises its own limit;
/// `None` if it is unlimited.
pub(super) fn file_size_limit() -> io::Result<Option<u64>> {
    let most = limit(LimitedResource::FileSize)?.rlim_max;
    Ok((most != libc::RLIM_INFINITY).then_some(most))
}

/// A resource that a process may use up to a limit. C libraries number it in different types.
#[derive(Clone, Copy)]
enum LimitedResource {
    OpenFiles,
    FileSize,
}

fn limit(resource: LimitedResource) -> io::Result<libc::rlimit> {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    let room = limit.as_mut_ptr();
    // SAFETY: the pointer is to a live `rlimit`, which the calls only write to.
    check(unsafe {
        match resource {
            LimitedResource::OpenFiles => libc::getrlimit(libc::RLIMIT_NOFILE, room),
            LimitedResource::FileSize => libc::getrlimit(libc::RLIMIT_FSIZE, room),
        }
    })?;
    // SAFETY: the call succeeded, so it filled the structure, which is plain integers.
    Ok(unsafe { limit.assume_init() })
}

fn raise(resource: LimitedResource) -> io::Result<u64> {
    let mut limit = limit(resource)?;
    limit.rlim_cur = limit.rlim_max;
    // SAFETY: the pointers are to a live `rlimit`, which the calls only read.
    check(unsafe {
        match resource {
            LimitedResource::OpenFiles => libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit),
            LimitedResource::FileSize => libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit),
        }
    })?;
    Ok(limit.rlim_cur)
}

/// Free and total bytes of the file system that holds `file`, for an ordinary user.
pub(super) fn space(file: &File) -> io::Result<(u64, u64)> {
    let mut stat = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: the pointer is to a live `statvfs`, which the call only writes to.
    check(unsafe { libc::fstatvfs(file.as_raw_fd(), stat.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it filled the structure, which is plain integers.
    let stat = unsafe { stat.assume_init() };
    Ok((stat.f_bavail * stat.f_frsize, stat.f_blocks * stat.f_frsize))
}

/// Kind of owner that a quota applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuotaKind {
    User,
    Group,
    Project,
}

impl QuotaKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
            Self::Project => "project",
        }
    }
}

/// A quota in bytes; a limit of 0 means no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "units last in the name")]
pub(super) struct Quota {
    pub(super) soft_bytes: u64,
    pub(super) hard_bytes: u64,
    pub(super) used_bytes: u64,
}

/// The quota of the owner `id` on the file system that holds `file` (`quotactl_fd(2)`).
pub(super) fn quota(file: &File, kind: QuotaKind, id: u32) -> io::Result<Quota> {
    /// `QIF_DQBLKSIZE` of linux/quota.h: the unit of limits.
    const BLOCK_BYTES: u64 = 1024;
    /// `PRJQUOTA` of linux/quota.h.
    const PROJECT: libc::c_int = 2;
    let kind = match kind {
        QuotaKind::User => libc::USRQUOTA,
        QuotaKind::Group => libc::GRPQUOTA,
        QuotaKind::Project => PROJECT,
    };
    let command = (libc::Q_GETQUOTA << 8) | kind;
    let mut found = MaybeUninit::<libc::dqblk>::zeroed();
    let (call, descriptor) = (libc::SYS_quotactl_fd, file.as_raw_fd());
    // SAFETY: the pointer is to a live `dqblk`, which the call only writes to.
    let result = unsafe { libc::syscall(call, descriptor, command, id, found.as_mut_ptr()) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: plain integers, zeroed before the call.
    let found = unsafe { found.assume_init() };
    Ok(Quota {
        soft_bytes: found.dqb_bsoftlimit.saturating_mul(BLOCK_BYTES),
        hard_bytes: found.dqb_bhardlimit.saturating_mul(BLOCK_BYTES),
        used_bytes: found.dqb_curspace,
    })
}

/// The project that new files in the folder `file` belong to (`FS_IOC_FSGETXATTR` of linux/fs.h); 0
/// if none.
pub(super) fn project(file: &File) -> io::Result<u32> {
    const FS_IOC_FSGETXATTR: libc::Ioctl = 0x801c_581f_u32 as libc::Ioctl;
    /// Position of `fsx_projid` among the seven words of `struct fsxattr`.
    const PROJECT_WORD: usize = 3;
    let mut attributes = [0_u32; 7];
    let pointer = attributes.as_mut_ptr();
    // SAFETY: the pointer is to 28 live bytes, the size of the structure that the call writes.
    check(unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FSGETXATTR, pointer) })?;
    Ok(attributes[PROJECT_WORD])
}

/// A text extended attribute of the file at `path`, up to 64 KiB (Linux's limit).
pub(super) fn attribute(path: &CStr, name: &CStr) -> io::Result<String> {
    let mut value = vec![0_u8; 64 << 10];
    let (buffer, bytes) = (value.as_mut_ptr().cast(), value.len());
    // SAFETY: both names are terminated strings, and the buffer is live and of that length.
    let length = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), buffer, bytes) };
    let length = usize::try_from(length).map_err(|_| io::Error::last_os_error())?;
    value.truncate(length);
    String::from_utf8(value).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// The effective user and group of this process.
pub(super) fn identity() -> (u32, u32) {
    // SAFETY: neither call takes an argument or can fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// Whether the file system that holds `file` keeps its files in memory, so that unbuffered I/O
/// means nothing even if the kernel permits it.
pub(super) fn lives_in_memory(file: &File) -> io::Result<bool> {
    /// `RAMFS_MAGIC` of linux/magic.h.
    const RAMFS_MAGIC: libc::c_long = 0x8584_58F6;
    let kind = file_system(file)?;
    Ok(kind == libc::TMPFS_MAGIC || kind == RAMFS_MAGIC)
}

/// The kind of the file system that holds `file`, as linux/magic.h numbers them.
pub(super) fn file_system(file: &File) -> io::Result<libc::c_long> {
    let mut stat = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the pointer is to a live `statfs`, which the call only writes to.
    check(unsafe { libc::fstatfs(file.as_raw_fd(), stat.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so it filled the structure, which is plain integers.
    let kind = unsafe { stat.assume_init() }.f_type;
    libc::c_long::try_from(kind).map_err(io::Error::other)
}

/// Required alignment of offsets and lengths of requests that bypass the system's cache, in bytes;
/// 0 if they are unsupported. `None` if the kernel or the file system does not report it
/// (`STATX_DIOALIGN`, statx(2)).
pub(super) fn direct_alignment(file: &File) -> io::Result<Option<u32>> {
    let (descriptor, empty) = (file.as_raw_fd(), c"".as_ptr());
    let (flags, mask) = (libc::AT_EMPTY_PATH, libc::STATX_DIOALIGN);
    let mut stat = MaybeUninit::<libc::statx>::zeroed();
    // SAFETY: the path is a terminated string; the other pointer is to a live `statx`, which the
    // call only writes to.
    check(unsafe { libc::statx(descriptor, empty, flags, mask, stat.as_mut_ptr()) })?;
    // SAFETY: the structure is plain integers, all zero before the call.
    let stat = unsafe { stat.assume_init() };
    let says = stat.stx_mask & libc::STATX_DIOALIGN != 0;
    Ok(says.then_some(stat.stx_dio_offset_align))
}

/// Asks for huge pages behind `bytes` of memory at `memory`. A kernel without them refuses, and
/// ordinary pages also work, only more slowly.
pub(crate) fn prefer_huge_pages(memory: *mut u8, bytes: usize) {
    // SAFETY: this advice changes neither the content nor the protection of any memory, and the
    // kernel refuses addresses that are not mapped.
    unsafe { libc::madvise(memory.cast(), bytes, libc::MADV_HUGEPAGE) };
}
