//! One volume of a flash cache on two hosts: the protocol as a state machine without sockets.
//!
//! A [`MirrorNode`] is one host's side. It takes a [`NodeEvent`] with the host's time and returns
//! [`NodeEffect`]s: replies to the guest, messages to the peer, operations on flash, on the backing
//! store and on the registry that keeps the lease and the [`Config`]. [`FlashImage`] defines what
//! each operation leaves on flash, so that recovery starts from exactly that.
//!
//! The registry decides who owns the volume and which copies count; a host that cannot reach it
//! stops before its lease can have expired. Nothing here opens a file, a socket or a clock.

mod claim;
mod codec;
mod config;
mod event;
mod fetch;
mod image;
mod lease;
mod local;
mod message;
mod node;
mod owner;
mod replica;
mod settings;

pub use codec::{FRAME_ALIGNMENT, FlashRecord, FrameHead, FramePayload};
pub use config::{Authority, Config, CountedCopies, MirrorHost};
pub use event::{
    BackingAnswer, BackingOp, GuestOutcome, GuestRequest, NodeCommand, NodeEffect, NodeEvent,
    RegistryAnswer, RegistryOp, RequestId,
};
pub use image::{
    BlockContent, BlockData, BlockSlot, EntryKind, FlashImage, FlashOp, HomeBlock, ImageHead,
    LogEntry, SettledBlock,
};
pub use message::{AttachmentKey, PeerMessage};
pub use node::{CopyProgress, MirrorNode, Status};
pub use settings::MirrorSettings;
