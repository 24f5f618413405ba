//! A target for each volume. Its name and the disk's identifiers derive from the volume's name, so
//! that initiators recognise it after a restart.

use std::rc::Rc;

use export::MemoryBudget;
use export_iscsi::{ServedDisk, SharedUnit, TargetHall, TargetOffer};

use super::IscsiSettings;
use crate::cache::serve::backing::BehindCache;
use console::error::CommandError;

/// Block size that every initiator accepts, in bytes.
const BLOCK_BYTES: u32 = 512;

/// The targets of `volumes`, whose commands share `memory`.
pub(in crate::cache::serve) fn hall(
    settings: &IscsiSettings,
    volumes: &[BehindCache],
    cached_block: u32,
    memory: MemoryBudget,
) -> Result<TargetHall, CommandError> {
    let mut targets: Vec<(TargetOffer, _)> = Vec::new();
    for volume in volumes {
        let wish = volume.wish.borrow();
        let name = format!("{}:{}", settings.name, suffix(&wish.name));
        if targets.iter().any(|(known, _)| known.name == name) {
            return Err(CommandError::new(format!(
                "{}: another volume's target is called {name}, too, since names of targets have no \
                 capital letters and underscores; rename one of them",
                wish.name
            )));
        }
        let identity = identity(&name);
        let disk = ServedDisk {
            blocks: volume.exported.bytes() / u64::from(BLOCK_BYTES),
            block_bytes: BLOCK_BYTES,
            physical_bytes: volume.exported.sector().clamp(BLOCK_BYTES, cached_block),
            preferred_bytes: cached_block,
            serial: format!("{identity:016x}"),
            identity,
            is_read_only: wish.is_read_only,
        };
        let (account, unit) = (settings.account.clone(), SharedUnit::default());
        let offer = TargetOffer { name, lun: 0, disk, account, unit };
        targets.push((offer, Rc::clone(&volume.exported)));
    }
    Ok(TargetHall::new(targets.into_iter(), memory))
}

/// Converts a volume's name to characters allowed in target names.
fn suffix(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// Hashes a name to a practically unique number (FNV-1a).
fn identity(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::{identity, suffix};

    #[test]
    fn a_name_always_gives_the_same_target_and_number() {
        assert_eq!(suffix("Mail_01.db"), "mail-01.db");
        // The known value of FNV-1a.
        assert_eq!(identity("a"), 0xaf63_dc4c_8601_ec8c);
        assert_ne!(identity("iqn.x:mail-1"), identity("iqn.x:mail-2"));
    }
}
