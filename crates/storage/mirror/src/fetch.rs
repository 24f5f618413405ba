//! Effects that carry contents of blocks: those at home on flash must be fetched first.

use crate::event::{GuestOutcome, NodeEffect};
use crate::image::BlockContent;
use crate::message::PeerMessage;

impl NodeEffect {
    /// The contents that it carries. Those on flash must be replaced by their bytes before it is
    /// carried out. If a home has been overwritten meanwhile, a read must be repeated, and a
    /// message may be dropped.
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
