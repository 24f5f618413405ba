//! Linux's descriptions of file systems and disks: `/proc/self/mountinfo` (proc(5)) and
//! `/sys/block` (the kernel's Documentation/ABI/stable/sysfs-block).

mod caching;
mod counted;
mod fuse;
mod quota;
mod stack;
mod throttle;
mod virtual_disk;

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use device::DeviceError;

use super::{durability, errors, sys};
use crate::probe::{DiskFacts, DurableWrites, IoLimit, VolumeFacts};

pub(crate) use counted::read_bytes as device_read_bytes;
pub(crate) use fuse::accounted_read_bytes;
pub(crate) use stack::devices;
use virtual_disk::stands_on_virtual;

/// Facts about the storage underneath `path`, which must exist.
pub(crate) fn facts(path: &Path) -> Result<VolumeFacts, DeviceError> {
    let name = path.display().to_string();
    let wrong = |error: std::io::Error| errors::of(&error, &name, "probe", 0);
    let path = fs::canonicalize(path).map_err(wrong)?;
    let file = fs::File::open(&path).map_err(wrong)?;
    let (free_bytes, total_bytes) = sys::space(&file).map_err(wrong)?;
    let table = fs::read_to_string("/proc/self/mountinfo").map_err(wrong)?;
    let mount = mount_of(&table, &path).unwrap_or_default();
    let caching = caching::of(&path, &mount, &table, Path::new("/sys"));
    let found = file.metadata().map_err(wrong)?;
    if found.file_type().is_block_device() {
        return Ok(device_facts(&path, &found, &table));
    }
    let (number, source) = (found.dev(), mount.source.clone());
    let space_limits = quota::limits(&file, &mount.file_system);
    Ok(VolumeFacts {
        caching,
        disk: disk_of(Path::new("/sys"), number, &source),
        mount_point: mount.point,
        file_system: mount.file_system,
        source: mount.source,
        options: mount.options,
        free_bytes,
        total_bytes,
        durable_writes: durability::of(&file).map_err(wrong)?,
        kernel: read(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default(),
        allocation_unit_bytes: None,
        marks: sys::marks(&file),
        bitlocker: None,
        io_limits: io_limits(number, &source),
        space_limits,
    })
}

/// Facts about the block device at `path`, which has no file system on it.
fn device_facts(path: &Path, found: &fs::Metadata, table: &str) -> VolumeFacts {
    let name = path.display().to_string();
    let disk = block_disk(found.rdev());
    let bytes = disk.as_ref().and_then(|disk| disk.size_bytes).unwrap_or(0);
    VolumeFacts {
        caching: caching::of_device(&name, table, Path::new("/sys")),
        disk,
        mount_point: name.clone(),
        file_system: String::new(),
        source: name,
        options: String::new(),
        free_bytes: bytes,
        total_bytes: bytes,
        durable_writes: DurableWrites::Flag,
        kernel: read(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default(),
        allocation_unit_bytes: None,
        marks: Vec::new(),
        bitlocker: None,
        io_limits: io_limits(found.rdev(), ""),
        space_limits: Vec::new(),
    }
}

/// Limits that control groups set for this process on the block device with this number.
fn io_limits(number: u64, source: &str) -> Vec<IoLimit> {
    folder_of(Path::new("/sys"), number, source)
        .map_or_else(Vec::new, |folder| throttle::of_disk(&folder))
}

/// The block device with this number.
pub(super) fn block_disk(number: u64) -> Option<DiskFacts> {
    disk_of(Path::new("/sys"), number, "")
}

/// Number of the block device that holds the file, or of the file itself if it is one.
fn device_number(found: &fs::Metadata) -> u64 {
    if found.file_type().is_block_device() { found.rdev() } else { found.dev() }
}

/// Free bytes on the file system that holds `path`, for an ordinary user and below the quotas that
/// bind this process.
pub(crate) fn free_bytes(path: &Path) -> Result<u64, DeviceError> {
    let free = fs::File::open(path).and_then(|file| {
        let (free, _) = sys::space(&file)?;
        Ok(quota::left(&file, path).map_or(free, |left| free.min(left)))
    });
    free.map_err(|error| errors::of(&error, &path.display().to_string(), "probe", 0))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Mount {
    point: String,
    file_system: String,
    source: String,
    options: String,
}

/// The mount that holds `path`: the longest mount point above it, and the last mounted among
/// equals.
fn mount_of(table: &str, path: &Path) -> Option<Mount> {
    table
        .lines()
        .filter_map(parse_mount)
        .filter(|mount| path.starts_with(&mount.point))
        .max_by_key(|mount| mount.point.len())
}

/// A line of mountinfo: numbers, root, mount point, options, optional fields, ` - `, kind, source,
/// file system options.
fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(4);
    let (point, options) = (left.next()?, left.next()?);
    let mut right = right.split(' ');
    let (file_system, source) = (right.next()?, right.next()?);
    Some(Mount {
        point: unescape(point),
        file_system: file_system.to_owned(),
        source: unescape(source),
        options: each_once(options, right.next().unwrap_or_default()),
    })
}

/// Options of the mount and then those of the file system, each once: both lists contain `rw`.
fn each_once(of_mount: &str, of_file_system: &str) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for option in of_mount.split(',').chain(of_file_system.split(',')) {
        if !option.is_empty() && !seen.contains(&option) {
            seen.push(option);
        }
    }
    seen.join(",")
}

/// Undoes the octal escapes of space, tab, newline and backslash.
fn unescape(field: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    let plain = field.to_owned();
    escapes.iter().fold(plain, |text, (escape, character)| text.replace(escape, character))
}

/// The disk with the device number `number`, or else the one named by the mount's source: some file
/// systems use their own numbers.
fn disk_of(sys: &Path, number: u64, source: &str) -> Option<DiskFacts> {
    folder_of(sys, number, source).map(|folder| disk(&whole_device(folder)))
}

/// The device's folder in `sys`; the partition's folder if it is a partition.
fn folder_of(sys: &Path, number: u64, source: &str) -> Option<PathBuf> {
    let (major, minor) = (libc::major(number), libc::minor(number));
    let by_number = sys.join(format!("dev/block/{major}:{minor}"));
    let found = fs::canonicalize(by_number).or_else(|_| {
        let node = fs::canonicalize(source)?;
        let name = node.file_name().unwrap_or_default();
        fs::canonicalize(sys.join("class/block").join(name))
    });
    found.ok()
}

/// A partition's folder lies inside that of its disk.
fn whole_device(folder: PathBuf) -> PathBuf {
    match folder.parent() {
        Some(parent) if folder.join("partition").exists() => parent.to_owned(),
        _ => folder,
    }
}

fn disk(folder: &Path) -> DiskFacts {
    let queue = folder.join("queue");
    let rotational: Option<u32> = number_in(&queue.join("rotational"));
    let sectors: Option<u64> = number_in(&folder.join("size"));
    let name = folder.file_name().unwrap_or_default();
    DiskFacts {
        name: name.to_string_lossy().into_owned(),
        model: model(&folder.join("device")),
        rotational: rotational.map(|flag| flag == 1).filter(|_| !stands_on_virtual(folder)),
        logical_sector: number_in(&queue.join("logical_block_size")).unwrap_or(512),
        physical_sector: number_in(&queue.join("physical_block_size")).unwrap_or(512),
        volatile_cache: read(&queue.join("write_cache")).map(|kind| kind == "write back"),
        scheduler: read(&queue.join("scheduler")).map(|list| chosen(&list)),
        queue_depth: number_in(&queue.join("nr_requests")),
        size_bytes: sectors.map(|sectors| sectors * 512), // Always 512, whatever the device's own.
        members: names(&folder.join("slaves")),
    }
}

fn model(device: &Path) -> Option<String> {
    let (vendor, model) = (read(&device.join("vendor")), read(&device.join("model")));
    let text = [vendor.unwrap_or_default(), model.unwrap_or_default()].join(" ");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The entry in brackets, or the whole text if there are no brackets.
fn chosen(list: &str) -> String {
    let bracketed = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(list, |(name, _)| name).to_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The number in a file of sysfs, if it holds one of this type.
fn number_in<N: FromStr>(file: &Path) -> Option<N> {
    read(file)?.parse().ok()
}

fn read(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests;
