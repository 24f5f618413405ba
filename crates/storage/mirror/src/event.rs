//! A node's inputs, and the effects that it requests.

use crate::config::Config;
use crate::image::{BlockContent, BlockData, FlashOp};
use crate::message::PeerMessage;

/// A request of the guest, numbered by the caller.
pub type RequestId = u64;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestRequest {
    /// Reads a block.
    Read(u64),
    /// Replaces a block.
    Write(u64, BlockData),
    /// Ends a flush epoch. Acknowledged writes are durable without it; it orders destaging.
    Flush,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GuestOutcome {
    /// Written, or flushed.
    Done,
    /// Content that was read; `None` if never written.
    Value(Option<BlockContent>),
    /// Not carried out, now or later: this host does not serve the volume.
    NotServing,
    /// The host stopped serving meanwhile; a write may have been carried out.
    Unknown,
}

/// A command from an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeCommand {
    /// Destage everything, and write through from then on.
    Drain,
    /// Write back again.
    Resume,
    /// Hand the volume to the other host.
    HandOver,
    /// Read from the source while it still serves.
    OpenRemote,
    /// Drop a clean block from the cache.
    Evict(u64),
}

/// A request to the registry. Changes are compare-and-set on a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryOp {
    /// Take the lease, if it has no holder.
    Take {
        /// Distinguishes starts of one host's program.
        boot: u64,
    },
    /// Restart the expiry of the lease.
    Renew {
        /// The revision of the last renewal.
        revision: u64,
        /// Distinguishes restarts of a host's program.
        boot: u64,
    },
    /// Give the lease up.
    Release(u64),
    /// Read the configuration.
    Get,
    /// Replace the configuration.
    Put {
        /// The revision to replace.
        expected: u64,
        /// The new one.
        config: Config,
    },
}

/// An answer of the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegistryAnswer {
    /// The caller now holds the lease.
    Granted(u64),
    /// It has a holder.
    Held {
        /// The holder.
        host: crate::config::MirrorHost,
        /// The start of its program.
        boot: u64,
        /// Its revision.
        revision: u64,
    },
    /// It had expired, or belongs to a later revision.
    Lost,
    /// The configuration, in reply to a read or because its revision was not the expected one.
    Is {
        /// Its revision.
        revision: u64,
        /// Its content.
        config: Config,
    },
    /// The configuration was replaced.
    Stored {
        /// The new revision.
        revision: u64,
        /// The new content.
        config: Config,
    },
}

/// A request to the backing store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackingOp {
    /// Refuse requests of lower epochs from now on (persistent reservation).
    Fence,
    /// Reads a block.
    Read(u64),
    /// Writes a block.
    Write(u64, BlockData),
    /// Makes completed writes durable.
    Flush,
}

/// An answer of the backing store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackingAnswer {
    /// Done.
    Done,
    /// Content of the block; `None` if never written.
    Value(Option<BlockData>),
    /// A higher epoch holds the reservation.
    Fenced,
    /// Failed; may have been carried out.
    Failed,
}

/// Input to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEvent {
    /// Time has passed; sent a few times within the shortest duration in the settings.
    Tick,
    /// A request of the guest on this host.
    Guest(RequestId, GuestRequest),
    /// A command from an operator.
    Command(NodeCommand),
    /// A message from the peer.
    Peer(PeerMessage),
    /// The oldest operation on flash is durable, or has failed; after a failure no other
    /// completes until the node is started again.
    Flash(Result<(), ()>),
    /// The backing store has answered.
    Backing(u64, BackingAnswer),
    /// The registry has answered request `.0`.
    Registry(u64, RegistryAnswer),
}

/// Action that the driver must perform for a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeEffect {
    /// Answer the guest.
    Reply(RequestId, GuestOutcome),
    /// Send to the peer.
    Send(PeerMessage),
    /// Write to flash; operations complete in order.
    Flash(FlashOp),
    /// Send a request to the backing store, in this epoch.
    Backing {
        /// Returned with the answer.
        token: u64,
        /// The asker's epoch.
        epoch: u64,
        /// The request.
        op: BackingOp,
    },
    /// Ask the registry.
    Registry {
        /// Returned with the answer.
        id: u64,
        /// The request.
        op: RegistryOp,
    },
}
