//! `cache create`: makes an empty store on flash that is empty or may be overwritten.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use device::block::{self, BlockContent};
use device::{Device, OpenMode, Runtime};
use device_os::World;
use flashcache::{ExamineDepth, FormatOptions, examine};
use host::wire;
use serde_json::json;
use units::Bytes;

use super::flags::CacheCreateFlags;
use super::flash;
use crate::format::identity;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;

/// Makes the store.
pub(super) fn run(
    flags: &CacheCreateFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let world = wire::world()?;
    let made = flags.size.is_some();
    let flash = match flags.size {
        Some(size) => create_file(&flags.flash, size, &world)?,
        None => flash::open(&flags.flash, &world, OpenMode::ReadWrite, Duration::ZERO)?,
    };
    let device = Rc::clone(&flash);
    let options = FormatOptions {
        block_bytes: u32::try_from(flags.block.0).unwrap_or(u32::MAX),
        identity: identity(),
        force: flags.force || made,
    };
    let may_hold = !options.force;
    let runtime = world.executor().runtime();
    let making = async move {
        if may_hold {
            refuse_foreign(&device, &runtime).await?;
        }
        flashcache::format(&device, options).await?;
        Ok::<_, CommandError>(examine(device, &runtime, ExamineDepth::Index).await?)
    };
    let contents = world.executor().block_on(making).inspect_err(|_| {
        if made {
            // The original failure is what matters.
            let _ = std::fs::remove_file(&flags.flash);
        }
    })?;
    let room = Bytes(contents.capacity_blocks * u64::from(contents.block_bytes));
    if flags.json {
        let members = json!({
            "flash": flash.name(),
            "flash_bytes": flash.length(),
            "block_bytes": contents.block_bytes,
            "capacity_bytes": room.0,
        });
        console.answer_json("cache_created", members)?;
        return Ok(Outcome::Pass);
    }
    console.answer(format_args!("{}: an empty cache, {room} for blocks", flash.name()))?;
    console.remark(format_args!(
        "Next: plimsoll cache serve {} --volume NAME=/dev/sdx",
        shell_word(&flags.flash)
    ))?;
    Ok(Outcome::Pass)
}

/// A new file of this size, allocated.
fn create_file(path: &Path, size: Bytes, world: &World) -> Result<Rc<dyn Device>, CommandError> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        CommandError::new(format!(
            "{}: names no file; give a path that ends in one",
            path.display()
        ))
    })?;
    let volume = world.volume(folder).map_err(|error| match error {
        device::DeviceError::NotFound { file } => CommandError::new(format!(
            "{file}: no such folder; create it first, or name a file in another one"
        )),
        error => error.into(),
    })?;
    let length = size.0 / 4096 * 4096;
    let opening = volume.open(name, OpenMode::CreateNew { length });
    world.executor().block_on(opening).map_err(|error| match error {
        device::DeviceError::AlreadyExists { file } => CommandError::new(format!(
            "{file}: exists already; leave --size out to use it as it is, or name another file"
        )),
        error => error.into(),
    })
}

/// Refuses flash that holds a cache, a file system or a volume, by name.
async fn refuse_foreign(flash: &Rc<dyn Device>, runtime: &Runtime) -> Result<(), CommandError> {
    let is_cache = examine(Rc::clone(flash), runtime, ExamineDepth::Index).await.is_ok();
    let holds = match block::content(flash).await? {
        BlockContent::Foreign(_) if is_cache => "a cache already".to_owned(),
        BlockContent::Blank => return Ok(()),
        BlockContent::Volume { files } => {
            format!("a volume of Plimsoll with {}", units::plural(files as u64, "file"))
        }
        BlockContent::Damaged(_) => "a damaged volume of Plimsoll".to_owned(),
        BlockContent::Foreign(what) => what.to_owned(),
    };
    Err(CommandError::new(format!(
        "{}: holds {holds}; check that it is the right device, or pass --force to overwrite it",
        flash.name()
    )))
}
