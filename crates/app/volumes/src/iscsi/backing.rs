//! Backing files of LUNs: created, grown, verified and removed, never taken over.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use device::{OpenMode, Purpose, Request};
use host::{system, wire};
use luns::{DesignedLun, FileProof, LunRecord};
use plan::luns::Allocation;

use console::error::CommandError;

/// Whether the file named in a record is still the one we created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ownership {
    /// The file that we created.
    Ours,
    /// It does not exist.
    Gone,
    /// Another file of the same name.
    Foreign,
}

/// Compares the file with the one recorded when it was created.
pub(super) fn ownership(record: &LunRecord) -> Result<Ownership, CommandError> {
    let path = Path::new(&record.file);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ownership::Gone),
        Err(error) => Err(CommandError::file(path, "examine", &error)),
        Ok(facts) if !facts.is_file() => Ok(Ownership::Foreign),
        Ok(_) if proof(path)? == record.proof => Ok(Ownership::Ours),
        Ok(_) => Ok(Ownership::Foreign),
    }
}

/// Refuses a file that is not the one we created.
pub(super) fn prove(record: &LunRecord) -> Result<(), CommandError> {
    match ownership(record)? {
        Ownership::Ours => Ok(()),
        Ownership::Gone => Err(CommandError::new(format!(
            "{}: is gone, and what {} held with it; bring it back, or `iscsi destroy` what is left",
            record.file, record.name
        ))),
        Ownership::Foreign => Err(foreign(record)),
    }
}

/// The error for a foreign file, which is left alone.
pub(super) fn foreign(record: &LunRecord) -> CommandError {
    CommandError::new(format!(
        "{}: is not the file that was made for {} (another number or another birth), so it is left \
         alone; look whose it is, and move it away",
        record.file, record.name
    ))
}

/// Distinguishes a file from any later one.
fn proof(path: &Path) -> Result<FileProof, CommandError> {
    let wrong = CommandError::of_file(path, "examine");
    let number = system::file_number(path).map_err(wrong)?;
    let born = fs::metadata(path).map_err(wrong)?.created().ok();
    let born = born.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
    Ok(FileProof { number, born: born.map(|since| since.as_nanos().to_string()) })
}

/// Creates the folder of a pool if it is missing; returns whether it was created.
pub(super) fn make_folder(folder: &Path) -> Result<bool, CommandError> {
    match fs::symlink_metadata(folder) {
        Ok(facts) if facts.is_dir() => Ok(false),
        Ok(_) => Err(CommandError::new(format!(
            "{}: is no folder; name another `folder`",
            folder.display()
        ))),
        Err(_) => {
            system::create_private_folder(folder)
                .map_err(CommandError::of_file(folder, "create"))?;
            Ok(true)
        }
    }
}

/// Creates the zero-filled file of a LUN.
pub(super) fn make(lun: &DesignedLun) -> Result<LunRecord, CommandError> {
    let path = Path::new(&lun.file);
    system::create_private(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => CommandError::new(format!(
            "{}: is there already and was not made here, so it is left alone; move it away, or \
             name another `folder`",
            lun.file
        )),
        _ => CommandError::file(path, "create", &error),
    })?;
    let made = set_length(lun).and_then(|()| proof(path));
    let proof = made.inspect_err(|_| {
        let _ = fs::remove_file(path);
    })?;
    Ok(LunRecord {
        name: lun.name.clone(),
        number: lun.number,
        file: lun.file.clone(),
        size_bytes: lun.size.0,
        proof,
    })
}

/// Sets the file of a LUN to its designed length.
pub(super) fn set_length(lun: &DesignedLun) -> Result<(), CommandError> {
    let path = Path::new(&lun.file);
    if lun.allocation == Allocation::Thin {
        let file = fs::OpenOptions::new().write(true).open(path);
        let long = file.and_then(|file| file.set_len(lun.size.0).and_then(|()| file.sync_all()));
        return long.map_err(CommandError::of_file(path, "make longer"));
    }
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(|it| it.to_str()))
    else {
        return Err(CommandError::new(format!("{}: is no path of a file", lun.file)));
    };
    let world = wire::world()?;
    let volume = wire::volume(&world, folder)?;
    let device = world.executor().block_on(volume.open(name, OpenMode::ReadWrite))?;
    let growth = device.submit(Request::set_length(Purpose::Database, lun.size.0));
    Ok(world.executor().block_on(growth).result?)
}

/// Removes the file of a record, if it is the one we created; returns whether it existed.
pub(super) fn remove(record: &LunRecord) -> Result<bool, CommandError> {
    match ownership(record)? {
        Ownership::Gone => return Ok(false),
        Ownership::Foreign => return Err(foreign(record)),
        Ownership::Ours => {}
    }
    let path = Path::new(&record.file);
    fs::remove_file(path).map_err(CommandError::of_file(path, "remove"))?;
    Ok(true)
}
