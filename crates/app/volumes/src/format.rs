//! `format`: turns a raw device into a volume for test databases. The only step that takes a device
//! with foreign content.

pub(crate) mod flags;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::rc::Rc;

use device::block::{self, BlockContent, BlockVolume};
use device::{Device, OpenMode, Volume as _};
use device_os::World;
use host::target::RawTarget;
use host::wire;
use serde_json::json;
use units::Bytes;

use console::Console;
use console::Outcome;
use console::error::CommandError;
use console::shell::shell_word;
use flags::FormatFlags;

/// Formats the device if no data is lost, or if the user has permitted it.
pub(crate) fn run(flags: &FormatFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    let target = RawTarget::of(&flags.device).filter(|target| target.inside.is_empty());
    let target = target.ok_or_else(|| {
        CommandError::new(format!(
            "{}: is no block device; name one such as /dev/sdx, an export such as \
             nbd://HOST/EXPORT, iscsi://HOST/IQN/LUN, or raw:FILE for a file used as a \
             device",
            flags.device.display()
        ))
    })?;
    let world = wire::world()?;
    let device = vetted(&target, &world, flags.force)?;
    let runtime = world.executor().runtime();
    let formatting = async move {
        block::format(&device, identity()).await?;
        BlockVolume::open(device, &runtime).await?.free_bytes().await
    };
    let free = Bytes(world.executor().block_on(formatting)?);
    if flags.json {
        console.answer_json("formatted", json!({ "device": target.name, "free_bytes": free.0 }))?;
        return Ok(Outcome::Pass);
    }
    console.answer(format_args!("{}: an empty volume, {free} for files", target.name))?;
    console.remark(format_args!(
        "Next: plimsoll quick {}, or folders = [\"{}\"] in a plan.",
        shell_word(&flags.device),
        target.name
    ))?;
    Ok(Outcome::Pass)
}

/// The device, if it may be formatted: it is empty, or the user has agreed to lose its contents,
/// and no process is using it.
fn vetted(target: &RawTarget, world: &World, force: bool) -> Result<Rc<dyn Device>, CommandError> {
    let device = target.connect(world, OpenMode::ReadWrite)?;
    let looked_at = Rc::clone(&device);
    let content = world.executor().block_on(async move { block::content(&looked_at).await })?;
    if let Some(refusal) = refusal(&target.name, &content, force) {
        return Err(CommandError::new(refusal));
    }
    match content {
        BlockContent::Volume { .. } => Ok(target.held(device, world, OpenMode::ReadWrite)?),
        _ => Ok(device),
    }
}

/// Reason not to format a device with this content; `None` if it may be formatted.
fn refusal(name: &str, content: &BlockContent, force: bool) -> Option<String> {
    let holds = match content {
        BlockContent::Blank => return None,
        _ if force => return None,
        BlockContent::Volume { files } => {
            format!("a volume of Plimsoll with {}", units::plural(*files as u64, "file"))
        }
        BlockContent::Damaged(problem) => {
            format!("a volume of Plimsoll that cannot be used ({problem})")
        }
        BlockContent::Foreign(what) => (*what).to_owned(),
    };
    Some(format!(
        "{name}: holds {holds}; check that it is the right device, and say --force where all that \
         is on it may be lost"
    ))
}

/// Draws a random volume id: the standard library takes its hash keys from the system's generator.
pub(crate) fn identity() -> [u8; 16] {
    let halves = [0; 2].map(|_: u8| RandomState::new().build_hasher().finish().to_le_bytes());
    let mut identity = [0; 16];
    identity.copy_from_slice(&halves.concat());
    identity
}

#[cfg(test)]
mod tests {
    use device::block::BlockContent;

    use super::{identity, refusal};

    #[test]
    fn only_a_blank_device_is_formatted_without_force() {
        let foreign = BlockContent::Foreign("a file system (XFS)");
        let damaged = BlockContent::Damaged("torn".to_owned());
        for (content, holds) in [
            (foreign, "a file system (XFS)"),
            (BlockContent::Volume { files: 7 }, "a volume of Plimsoll with 7 files"),
            (damaged, "a volume of Plimsoll that cannot be used (torn)"),
        ] {
            let refused = refusal("/dev/sdx", &content, false).unwrap();
            assert!(refused.starts_with(&format!("/dev/sdx: holds {holds};")), "{refused}");
            assert_eq!(refusal("/dev/sdx", &content, true), None);
        }
        assert_eq!(refusal("/dev/sdx", &BlockContent::Blank, false), None);
    }

    #[test]
    fn no_two_volumes_are_the_same() {
        assert_ne!(identity(), identity());
    }
}
