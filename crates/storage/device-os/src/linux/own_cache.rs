//! A disk's own report of its write cache: the SCSI caching page, or the `NVMe` feature. The kernel
//! judges by the device's abilities, or by its own configuration, which may differ.
#![expect(unsafe_code, reason = "two system calls; each block has its argument")]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::probe::OwnCache;

const MODE_PAGE: &str = "SCSI caching mode page, WCE";
const FEATURE: &str = "NVMe feature 06h";
const CAPABILITY: &str = "NVMe identify, VWC";

/// The largest multiple of four bytes that a request with a one-byte length can ask for.
const ANSWER_BYTES: u8 = 252;

/// Longest wait for a device's answer.
const PATIENCE_MS: u32 = 5_000;

/// Asks the device at `node`. SATA disks answer through the kernel's translation, which reads the
/// disk's own data.
pub(super) fn of(node: &Path, is_nvme: bool) -> OwnCache {
    let opened = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(node);
    let answer = opened.and_then(|disk| if is_nvme { nvme(&disk) } else { scsi(&disk) });
    answer.unwrap_or_else(|error| {
        OwnCache::Untold(match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) if super::sys::identity().0 == 0 => {
                "the kernel did not let root ask it".to_owned()
            }
            Some(libc::EACCES | libc::EPERM) => "asking it was not permitted (root may)".to_owned(),
            Some(libc::ENOTTY | libc::EINVAL | libc::ENOSYS | libc::ENOTSUP) => {
                "it cannot be asked".to_owned()
            }
            _ => error.to_string(),
        })
    })
}

/// `sg_io_hdr` of scsi/sg.h.
#[repr(C)]
struct ScsiRequest {
    interface: i32,
    direction: i32,
    command_bytes: u8,
    sense_bytes: u8,
    scatter_count: u16,
    data_bytes: u32,
    data: *mut c_void,
    command: *const u8,
    sense: *mut u8,
    timeout_ms: u32,
    flags: u32,
    pack_id: i32,
    user: *mut c_void,
    status: u8,
    masked_status: u8,
    message_status: u8,
    sense_written: u8,
    host_status: u16,
    driver_status: u16,
    residual: i32,
    duration_ms: u32,
    info: u32,
}

fn scsi(disk: &File) -> io::Result<OwnCache> {
    // MODE SENSE without block descriptors, page 08h, current values (SPC-4 6.11 and 6.12).
    let short = mode_sense(disk, &[0x1a, 0x08, 0x08, 0, ANSWER_BYTES, 0]);
    let of_short = short.ok().and_then(|answer| caching_page(&answer, 4));
    let page = if of_short.is_some() {
        of_short
    } else {
        let long = mode_sense(disk, &[0x5a, 0x08, 0x08, 0, 0, 0, 0, 0, ANSWER_BYTES, 0])?;
        caching_page(&long, 8)
    };
    Ok(match page {
        Some(page) if page & 0x04 != 0 => OwnCache::On(MODE_PAGE),
        Some(_) => OwnCache::Off(MODE_PAGE),
        None => OwnCache::Untold("it has no caching mode page".to_owned()),
    })
}

fn mode_sense(disk: &File, command: &[u8]) -> io::Result<Vec<u8>> {
    const SG_IO: libc::Ioctl = 0x2285;
    const FROM_DEVICE: i32 = -3;
    const SENSE_BYTES: u8 = 32;
    let (mut data, mut sense) = ([0_u8; ANSWER_BYTES as usize], [0_u8; SENSE_BYTES as usize]);
    let mut request = ScsiRequest {
        interface: i32::from(b'S'),
        direction: FROM_DEVICE,
        command_bytes: u8::try_from(command.len()).unwrap_or(u8::MAX),
        sense_bytes: SENSE_BYTES,
        scatter_count: 0,
        data_bytes: u32::from(ANSWER_BYTES),
        data: data.as_mut_ptr().cast(),
        command: command.as_ptr(),
        sense: sense.as_mut_ptr(),
        timeout_ms: PATIENCE_MS,
        flags: 0,
        pack_id: 0,
        user: std::ptr::null_mut(),
        status: 0,
        masked_status: 0,
        message_status: 0,
        sense_written: 0,
        host_status: 0,
        driver_status: 0,
        residual: 0,
        duration_ms: 0,
        info: 0,
    };
    // SAFETY: the request is the structure that SG_IO takes; its pointers are to live buffers of
    // the lengths beside them, and the call returns when the device no longer writes to them.
    if unsafe { libc::ioctl(disk.as_raw_fd(), SG_IO, &raw mut request) } < 0 {
        return Err(io::Error::last_os_error());
    }
    if request.status != 0 || request.host_status != 0 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let unwritten = usize::try_from(request.residual).unwrap_or(0).min(data.len());
    Ok(data[..data.len() - unwritten].to_vec())
}

/// The byte with the flags of the caching page, after a header of `header_bytes` bytes.
fn caching_page(answer: &[u8], header_bytes: usize) -> Option<u8> {
    let descriptors = match header_bytes {
        4 => usize::from(*answer.get(3)?),
        _ => usize::from(u16::from_be_bytes([*answer.get(6)?, *answer.get(7)?])),
    };
    let page = answer.get(header_bytes + descriptors..)?;
    let is_caching = page.first()? & 0x3f == 0x08 && *page.get(1)? >= 1;
    is_caching.then(|| page.get(2).copied()).flatten()
}

/// `nvme_passthru_cmd` of `linux/nvme_ioctl.h`.
#[repr(C)]
#[derive(Default)]
struct NvmeCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    namespace: u32,
    words_2_and_3: [u32; 2],
    metadata: u64,
    address: u64,
    metadata_bytes: u32,
    data_bytes: u32,
    words_10_to_15: [u32; 6],
    timeout_ms: u32,
    result: u32,
}

/// NVM Express base specification: Identify (06h), byte 525; Get Features (0Ah), feature 06h.
fn nvme(disk: &File) -> io::Result<OwnCache> {
    let mut controller = [0_u8; 4096];
    ask_nvme(disk, 0x06, 1, &mut controller)?;
    if controller[525] & 1 == 0 {
        return Ok(OwnCache::Off(CAPABILITY));
    }
    let feature = ask_nvme(disk, 0x0a, 0x06, &mut [])?;
    Ok(if feature & 1 == 1 { OwnCache::On(FEATURE) } else { OwnCache::Off(FEATURE) })
}

fn ask_nvme(disk: &File, opcode: u8, word_10: u32, data: &mut [u8]) -> io::Result<u32> {
    const NVME_IOCTL_ADMIN_CMD: libc::Ioctl = libc::_IOWR::<NvmeCommand>(0x4e, 0x41);
    let mut command = NvmeCommand {
        opcode,
        address: if data.is_empty() { 0 } else { data.as_mut_ptr() as u64 },
        data_bytes: u32::try_from(data.len()).unwrap_or(u32::MAX),
        words_10_to_15: [word_10, 0, 0, 0, 0, 0],
        timeout_ms: PATIENCE_MS,
        ..NvmeCommand::default()
    };
    // SAFETY: `command` is the structure that the call takes; it holds the address and length of a
    // live buffer, and the call returns only after the command ends.
    let status = unsafe { libc::ioctl(disk.as_raw_fd(), NVME_IOCTL_ADMIN_CMD, &raw mut command) };
    match status {
        0 => Ok(command.result),
        status if status < 0 => Err(io::Error::last_os_error()),
        status => Err(io::Error::other(format!("it refused with NVMe status {status:#x}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{NvmeCommand, ScsiRequest, caching_page, of};
    use crate::probe::OwnCache;

    #[test]
    fn structures_have_the_sizes_of_the_kernel() {
        assert_eq!(size_of::<NvmeCommand>(), 72);
        if cfg!(target_pointer_width = "64") {
            assert_eq!(size_of::<ScsiRequest>(), 88);
        }
    }

    #[test]
    fn the_caching_page_is_found_behind_either_header() {
        let page = [0x88, 18, 0x04, 0];
        let short = [&[23, 0, 0, 0][..], &page].concat();
        assert_eq!(caching_page(&short, 4), Some(0x04));
        let described = [&[31, 0, 0, 8][..], &[9; 8], &page].concat();
        assert_eq!(caching_page(&described, 4), Some(0x04));
        let long = [&[0, 26, 0, 0, 0, 0, 0, 0][..], &page].concat();
        assert_eq!(caching_page(&long, 8), Some(0x04));
        assert_eq!(caching_page(&[3, 0, 0, 0], 4), None);
        assert_eq!(caching_page(&[23, 0, 0, 0, 0x01, 10, 4], 4), None, "another page");
        assert_eq!(caching_page(&[23, 0], 4), None);
    }

    #[test]
    fn what_cannot_be_asked_says_why() {
        for is_nvme in [true, false] {
            let OwnCache::Untold(why) = of(Path::new("/dev/null"), is_nvme) else {
                panic!("/dev/null has no cache");
            };
            assert_eq!(why, "it cannot be asked");
        }
    }
}
