//! The contents of a store, for people and for programs.

use std::fmt::Write as _;

use flashcache::{StoreContents, StoredVolume};
use serde_json::{Value, json};
use units::Bytes;

/// Describes a store that is not in use.
pub(super) fn contents(name: &str, contents: &StoreContents) -> String {
    let block = u64::from(contents.block_bytes);
    let room = Bytes(contents.capacity_blocks * block);
    let mut text = format!(
        "{name}: {} of {room} in use, blocks of {}\n",
        Bytes(contents.cached_blocks * block),
        Bytes(block)
    );
    let _ = writeln!(text, "  Last session: {}", last_session(contents));
    if let Some(damaged) = contents.damaged_blocks {
        let _ = match damaged {
            0 => writeln!(text, "  Blocks: every one matches its checksum"),
            _ => writeln!(
                text,
                "  Blocks: {damaged} do not match their checksum; they count as misses, and the \
                 flash should be replaced"
            ),
        };
    }
    for volume in &contents.volumes {
        let _ = writeln!(text, "  {}", volume_line(volume, block));
    }
    if contents.volumes.is_empty() {
        text += "  No volume was served with it yet\n";
    }
    text
}

fn last_session(contents: &StoreContents) -> String {
    if contents.checkpoint_damaged {
        return "its checkpoint is damaged; the next one starts empty".to_owned();
    }
    match (contents.sessions, contents.was_clean) {
        (0, _) => "none yet".to_owned(),
        (_, true) if contents.blocks_dropped > 0 => format!(
            "ended cleanly; the next one starts without {} in regions that no flush covered",
            units::plural(contents.blocks_dropped, "block")
        ),
        (_, true) if contents.cached_blocks == 0 => "ended cleanly, with nothing cached".to_owned(),
        (_, true) => "ended cleanly; the next one starts warm".to_owned(),
        (_, false) => format!(
            "still running, or killed; the next one starts warm without {} in regions that were \
             being written",
            units::plural(contents.blocks_dropped, "block")
        ),
    }
}

fn volume_line(volume: &StoredVolume, block: u64) -> String {
    let cached = Bytes(volume.blocks * block);
    format!("{}: {cached} cached of {}", volume.name, Bytes(volume.length))
}

/// The contents of a store as JSON.
pub(super) fn contents_json(name: &str, contents: &StoreContents) -> Value {
    let block = u64::from(contents.block_bytes);
    let volumes: Vec<Value> = contents
        .volumes
        .iter()
        .map(|volume| {
            json!({
                "name": volume.name,
                "length_bytes": volume.length,
                "cached_bytes": volume.blocks * block,
            })
        })
        .collect();
    json!({
        "flash": name,
        "block_bytes": contents.block_bytes,
        "capacity_bytes": contents.capacity_blocks * block,
        "cached_bytes": contents.cached_blocks * block,
        "sessions": contents.sessions,
        "ended_cleanly": contents.was_clean,
        "checkpoint_damaged": contents.checkpoint_damaged,
        "blocks_dropped": contents.blocks_dropped,
        "damaged_blocks": contents.damaged_blocks,
        "volumes": volumes,
    })
}

#[cfg(test)]
mod tests {
    use flashcache::StoreContents;

    use super::last_session;

    #[test]
    fn a_clean_end_promises_no_more_warmth_than_there_is() {
        let contents = |sessions, was_clean, [cached_blocks, blocks_dropped]: [u64; 2]| {
            last_session(&StoreContents {
                identity: [1; 16],
                block_bytes: 32 << 10,
                capacity_blocks: 100,
                cached_blocks,
                sessions,
                was_clean,
                checkpoint_damaged: false,
                groups_replayed: 0,
                blocks_dropped,
                damaged_blocks: None,
                volumes: Vec::new(),
            })
        };
        assert_eq!(contents(0, true, [0, 0]), "none yet");
        assert!(contents(2, true, [9, 0]).ends_with("starts warm"));
        assert!(contents(2, true, [9, 4]).contains("without 4 blocks"));
        assert!(contents(2, true, [0, 0]).ends_with("nothing cached"));
        assert!(contents(2, false, [9, 4]).contains("warm without 4 blocks"));
    }
}
