//! Safeguards against races too rare for random histories, one step at a time.

use mirror::{
    AttachmentKey, Authority, BackingAnswer, BackingOp, BlockSlot, Config, CountedCopies,
    FlashImage, FlashOp, GuestOutcome, GuestRequest, MirrorHost, MirrorNode, MirrorSettings,
    NodeCommand, NodeEffect, NodeEvent, PeerMessage, RegistryAnswer,
};
use units::Nanos;

const NOW: Nanos = Nanos::from_secs(100);

fn node(image: FlashImage) -> MirrorNode {
    MirrorNode::start(MirrorHost::A, 7, MirrorSettings::default(), image)
}

fn step(node: &mut MirrorNode, event: NodeEvent) -> Vec<NodeEffect> {
    node.handle(NOW, event)
}

/// Takes the lease and the volume at epoch 2; the effects of having won it.
fn claim(node: &mut MirrorNode, authority: Authority) -> Vec<NodeEffect> {
    let found = Config { epoch: 1, owner: MirrorHost::B, authority };
    let is = RegistryAnswer::Is { revision: 5, config: found };
    step(node, NodeEvent::Tick);
    step(node, NodeEvent::Registry(0, is));
    step(node, NodeEvent::Registry(1, RegistryAnswer::Granted(6)));
    step(node, NodeEvent::Registry(0, is));
    let config = Config { epoch: 2, owner: MirrorHost::A, authority };
    step(node, NodeEvent::Registry(0, RegistryAnswer::Stored { revision: 7, config }))
}

fn flash_ops(effects: &[NodeEffect]) -> Vec<&FlashOp> {
    let mut ops = Vec::new();
    for effect in effects {
        if let NodeEffect::Flash(op) = effect {
            ops.push(op);
        }
    }
    ops
}

fn token(effects: &[NodeEffect], wanted: &BackingOp) -> u64 {
    let token = |effect: &NodeEffect| match effect {
        NodeEffect::Backing { token, op, .. } if op == wanted => Some(*token),
        _ => None,
    };
    effects.iter().find_map(token).expect("the backing store is asked")
}

/// Serves from the backing store at epoch 2.
fn owner() -> MirrorNode {
    let mut node = node(FlashImage::empty(true, 8));
    let effects = claim(&mut node, Authority::Backing);
    for _ in flash_ops(&effects) {
        step(&mut node, NodeEvent::Flash(Ok(())));
    }
    let fence = token(&effects, &BackingOp::Fence);
    let effects = step(&mut node, NodeEvent::Backing(fence, BackingAnswer::Done));
    let flush = token(&effects, &BackingOp::Flush);
    step(&mut node, NodeEvent::Backing(flush, BackingAnswer::Done));
    assert!(node.status(NOW).is_serving);
    node
}

#[test]
fn the_cache_is_dropped_before_flash_notes_the_epoch() {
    let effects = claim(&mut node(FlashImage::empty(true, 8)), Authority::Backing);
    let ops = flash_ops(&effects);
    assert_eq!(ops[..2], [&FlashOp::Adopt { keep_clean: false }, &FlashOp::Epoch(2)]);
}

#[test]
fn nothing_is_served_before_the_backing_store_is_fenced() {
    let mut node = node(FlashImage::empty(true, 8));
    let effects = claim(&mut node, Authority::Backing);
    for _ in flash_ops(&effects) {
        step(&mut node, NodeEvent::Flash(Ok(())));
    }
    let refused = step(&mut node, NodeEvent::Guest(1, GuestRequest::Read(3)));
    assert_eq!(refused, [NodeEffect::Reply(1, GuestOutcome::NotServing)]);
}

#[test]
fn a_block_that_a_write_has_overtaken_is_not_cached() {
    for overtaken in [false, true] {
        let mut node = owner();
        let effects = step(&mut node, NodeEvent::Guest(1, GuestRequest::Read(3)));
        let read = token(&effects, &BackingOp::Read(3));
        if overtaken {
            step(&mut node, NodeEvent::Guest(2, GuestRequest::Write(3, [2].into())));
        }
        let old = BackingAnswer::Value(Some([1].into()));
        let effects = step(&mut node, NodeEvent::Backing(read, old));
        let is_cached = flash_ops(&effects).iter().any(|op| matches!(op, FlashOp::Copy(_)));
        assert_eq!(is_cached, !overtaken);
    }
}

#[test]
fn a_promise_outlives_a_restart() {
    let mut image = FlashImage::empty(true, 8);
    image.apply(&FlashOp::Epoch(5));
    let join = PeerMessage::Join { epoch: 4, session: 1 };
    let answer = step(&mut node(image), NodeEvent::Peer(join));
    assert_eq!(answer, [NodeEffect::Send(PeerMessage::Superseded(5))]);
}

/// Follows a peer at epoch 3.
fn follower() -> (MirrorNode, AttachmentKey) {
    let mut node = node(FlashImage::empty(true, 8));
    let key = AttachmentKey { epoch: 3, session: 1, boot: 7 };
    step(&mut node, NodeEvent::Peer(PeerMessage::Join { epoch: 3, session: 1 }));
    let begin = PeerMessage::Begin { key, start: 10, floor: None };
    step(&mut node, NodeEvent::Peer(begin));
    (node, key)
}

#[test]
fn messages_of_an_earlier_epoch_say_that_it_is_over() {
    let (mut node, key) = follower();
    let old = PeerMessage::EndCopy(AttachmentKey { epoch: 2, ..key });
    let answer = step(&mut node, NodeEvent::Peer(old));
    assert_eq!(answer, [NodeEffect::Send(PeerMessage::Superseded(3))]);
}

#[test]
fn a_warm_block_from_before_an_eviction_is_not_cached() {
    for (lsn, is_cached) in [(9, false), (10, true)] {
        let (mut node, key) = follower();
        step(&mut node, NodeEvent::Command(NodeCommand::Evict(3)));
        let slots = vec![(3, BlockSlot { lsn, data: [1].into() })];
        let effects = step(&mut node, NodeEvent::Peer(PeerMessage::Warm { key, slots }));
        assert_eq!(!effects.is_empty(), is_cached, "as of {lsn}");
    }
}

#[test]
fn a_host_claims_nothing_without_a_copy_that_counts() {
    let mut node = node(FlashImage::empty(true, 8));
    let authority = Authority::Flash(CountedCopies::Only(MirrorHost::B));
    let config = Config { epoch: 1, owner: MirrorHost::B, authority };
    step(&mut node, NodeEvent::Tick);
    let is = RegistryAnswer::Is { revision: 5, config };
    assert_eq!(step(&mut node, NodeEvent::Registry(0, is)), []);
}
