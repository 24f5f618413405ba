//! Finds the block contents in effects: those stored on flash must be read first.

use crate::event::{GuestOutcome, NodeEffect};
use crate::image::BlockContent;
use crate::message::PeerMessage;

impl NodeEffect {
    /// The block contents in the effect. Replace those on flash by their bytes before carrying it
    /// out. If a home was overwritten meanwhile, repeat a guest's read; a message may be dropped.
    pub fn contents(&mut self) -> Vec<&mut BlockContent> {
        match self {
            Self::Reply(_, GuestOutcome::Value(Some(content)))
            | Self::Send(PeerMessage::RemoteValue { data: Some(content), .. }) => vec![content],
            Self::Send(PeerMessage::Copy { slots, .. } | PeerMessage::Warm { slots, .. }) => {
                slots.iter_mut().map(|(_, slot)| &mut slot.data).collect()
            }
            _ => Vec::new(),
        }
    }
}
