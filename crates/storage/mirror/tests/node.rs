//! Safeguards against races too rare for random histories, one step at a time.

use mirror::{
    AttachmentKey, Authority, BackingAnswer, BackingOp, BlockSlot, Config, CountedCopies,
    EntryKind, FlashImage, FlashOp, GuestOutcome, GuestRequest, LogEntry, MirrorHost, MirrorNode,
    MirrorSettings, NodeCommand, NodeEffect, NodeEvent, PeerMessage, RegistryAnswer, RegistryOp,
};
use units::Nanos;

const NOW: Nanos = Nanos::from_secs(100);

fn node(image: FlashImage) -> MirrorNode {
    MirrorNode::start(MirrorHost::A, 7, MirrorSettings::default(), image)
}

fn step(node: &mut MirrorNode, event: NodeEvent) -> Vec<NodeEffect> {
    node.handle(NOW, event)
}

/// Takes the lease and the volume at epoch 2; returns the effects of winning the volume.
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

/// A node that serves from the backing store at epoch 2.
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

/// A node that follows a peer at epoch 3.
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

/// An owner at epoch 2 and the attachment of its peer, which has confirmed the log so far.
fn pair(settings: MirrorSettings, authority: Authority) -> (MirrorNode, AttachmentKey) {
    let image = FlashImage::empty(settings.backed, 8);
    let mut node = MirrorNode::start(MirrorHost::A, 7, settings, image);
    let effects = claim(&mut node, authority);
    for _ in flash_ops(&effects) {
        step(&mut node, NodeEvent::Flash(Ok(())));
    }
    if settings.backed {
        let mut effects = settle(&mut node, &effects, &BackingOp::Fence);
        if authority == Authority::Backing {
            effects = settle(&mut node, &effects, &BackingOp::Flush);
        }
        complete(&mut node, &effects);
    }
    let effects = step(&mut node, NodeEvent::Tick);
    complete(&mut node, &effects);
    let key = AttachmentKey { epoch: 2, session: 1, boot: 9 };
    step(&mut node, NodeEvent::Peer(PeerMessage::Joined { key, valid_to: 0 }));
    (node, key)
}

/// Completes the operations on flash that `effects` ask for.
fn complete(node: &mut MirrorNode, effects: &[NodeEffect]) -> Vec<NodeEffect> {
    let mut more = Vec::new();
    for _ in flash_ops(effects) {
        more.extend(step(node, NodeEvent::Flash(Ok(()))));
    }
    more
}

/// The backing store carries out `op`, which `effects` ask for.
fn settle(node: &mut MirrorNode, effects: &[NodeEffect], op: &BackingOp) -> Vec<NodeEffect> {
    step(node, NodeEvent::Backing(token(effects, op), BackingAnswer::Done))
}

fn durable(node: &mut MirrorNode, key: AttachmentKey, lsn: u64, marked: u64) -> Vec<NodeEffect> {
    step(node, NodeEvent::Peer(PeerMessage::Durable { key, lsn, marked }))
}

fn put(effects: &[NodeEffect]) -> Option<Authority> {
    effects.iter().find_map(|effect| match effect {
        NodeEffect::Registry { op: RegistryOp::Put { config, .. }, .. } => Some(config.authority),
        _ => None,
    })
}

fn writes_to_backing(effects: &[NodeEffect]) -> usize {
    let is_write =
        |one: &&NodeEffect| matches!(one, NodeEffect::Backing { op: BackingOp::Write(..), .. });
    effects.iter().filter(is_write).count()
}

const BOTH: Authority = Authority::Flash(CountedCopies::Both);

#[test]
fn entries_that_the_peer_lacks_are_not_destaged() {
    let (mut node, key) = pair(MirrorSettings::default(), BOTH);
    let effects = durable(&mut node, key, 1, 0);
    let effects = settle(&mut node, &effects, &BackingOp::Flush);
    complete(&mut node, &effects);
    durable(&mut node, key, 1, 1);
    for (id, request) in [(1, GuestRequest::Write(3, [1].into())), (2, GuestRequest::Flush)] {
        let effects = step(&mut node, NodeEvent::Guest(id, request));
        let more = complete(&mut node, &effects);
        assert_eq!(writes_to_backing(&more), 0);
    }
    let effects = durable(&mut node, key, 3, 1);
    assert_eq!(writes_to_backing(&effects), 1);
}

#[test]
fn a_cache_too_large_to_send_in_time_moves_with_its_hottest_blocks() {
    let settings = MirrorSettings {
        batch_blocks: 1,
        hand_over_limit: Nanos::from_secs(1),
        peer_timeout: Nanos::from_secs(60),
        ..MirrorSettings::default()
    };
    let (mut node, key) = pair(settings, BOTH);
    let effects = durable(&mut node, key, 1, 0);
    let effects = settle(&mut node, &effects, &BackingOp::Flush);
    complete(&mut node, &effects);
    durable(&mut node, key, 1, 1);
    for (id, block) in (1..=100).chain([77]).enumerate() {
        let read = GuestRequest::Read(block);
        let effects = step(&mut node, NodeEvent::Guest(id as u64, read));
        if id < 100 {
            let found = BackingAnswer::Value(Some([1].into()));
            let read = token(&effects, &BackingOp::Read(block));
            let effects = step(&mut node, NodeEvent::Backing(read, found));
            complete(&mut node, &effects);
        }
    }
    step(&mut node, NodeEvent::Command(NodeCommand::HandOver));
    let mut effects = Vec::new();
    for tick in 1..60 {
        effects.extend(node.handle(NOW + Nanos::from_millis(tick * 20), NodeEvent::Tick));
    }
    let warm: Vec<u64> = effects
        .iter()
        .filter_map(|effect| match effect {
            NodeEffect::Send(PeerMessage::Warm { slots, .. }) => Some(slots[0].0),
            _ => None,
        })
        .collect();
    assert!(warm.first() == Some(&77) && warm.len() < 30, "{warm:?}");
    let release =
        |one: &NodeEffect| matches!(one, NodeEffect::Registry { op: RegistryOp::Release(_), .. });
    assert!(effects.iter().any(release), "the volume did not move");
}

#[test]
fn a_copy_counts_only_with_the_destage_mark_on_its_flash() {
    let (mut node, key) = pair(MirrorSettings::default(), Authority::Backing);
    assert_eq!(put(&durable(&mut node, key, 1, 0)), None);
    assert_eq!(put(&durable(&mut node, key, 1, 1)), Some(BOTH));
}

#[test]
fn a_configuration_asked_for_counts_before_it_is_confirmed() {
    let (mut node, key) = pair(MirrorSettings::default(), Authority::Backing);
    assert_eq!(put(&durable(&mut node, key, 1, 1)), Some(BOTH));
    // The requested configuration may be in force, with the answer in flight.
    let effects = step(&mut node, NodeEvent::Guest(1, GuestRequest::Write(3, [1].into())));
    let more = complete(&mut node, &effects);
    assert_eq!(writes_to_backing(&more), 0, "the other host may own a log without this entry");
    let effects = durable(&mut node, key, 3, 1);
    assert_eq!(writes_to_backing(&effects), 1);
}

/// Otherwise the peer could take over with the backing store ahead of its log, and a block that
/// this host had cached before would be stale.
#[test]
fn a_peer_counts_only_with_all_that_is_on_its_way_to_the_backing_store() {
    let (mut node, key) = pair(MirrorSettings::default(), Authority::Backing);
    let effects = step(&mut node, NodeEvent::Guest(1, GuestRequest::Write(3, [1].into())));
    complete(&mut node, &effects);
    let effects = step(&mut node, NodeEvent::Guest(2, GuestRequest::Flush));
    complete(&mut node, &effects);
    let effects = durable(&mut node, key, 1, 1);
    assert_eq!((writes_to_backing(&effects), put(&effects)), (1, None));
    assert_eq!(put(&durable(&mut node, key, 3, 1)), Some(BOTH));
}

#[test]
fn only_committed_content_is_copied() {
    let settings = MirrorSettings { backed: false, ..MirrorSettings::default() };
    let alone = Authority::Flash(CountedCopies::Only(MirrorHost::A));
    let (mut node, first) = pair(settings, alone);
    step(&mut node, NodeEvent::Peer(PeerMessage::Detached(first)));
    let effects = step(&mut node, NodeEvent::Guest(1, GuestRequest::Write(3, [1].into())));
    complete(&mut node, &effects);
    // The second write is not on flash yet: a crash takes it away.
    step(&mut node, NodeEvent::Guest(2, GuestRequest::Write(3, [2].into())));
    let later = |millis| NOW + Nanos::from_millis(millis);
    node.handle(later(200), NodeEvent::Tick);
    let key = AttachmentKey { session: 2, ..first };
    node.handle(later(201), NodeEvent::Peer(PeerMessage::Joined { key, valid_to: 0 }));
    let open = PeerMessage::Durable { key, lsn: 2, marked: 0 };
    node.handle(later(202), NodeEvent::Peer(open));
    let effects = node.handle(later(400), NodeEvent::Tick);
    let copied = effects.iter().find_map(|effect| match effect {
        NodeEffect::Send(PeerMessage::Copy { slots, .. }) => Some(slots.clone()),
        _ => None,
    });
    let slot = BlockSlot { lsn: 2, data: [1].into() };
    assert_eq!(copied, Some(vec![(3, slot)]));
}

#[test]
fn nothing_that_an_earlier_owner_may_have_committed_is_taken_back() {
    let mut image = FlashImage::empty(true, 8);
    let write = |lsn| LogEntry { lsn, kind: EntryKind::Write { block: lsn, data: [1].into() } };
    let barrier = |lsn| LogEntry { lsn, kind: EntryKind::Barrier };
    image.apply(&FlashOp::Append(vec![write(1), barrier(2), write(3)]));
    let mut node = node(image);
    // Acknowledged by a host that has died: entries 1 to 3. This host's mark knows of none.
    let effects = claim(&mut node, Authority::Flash(CountedCopies::Only(MirrorHost::A)));
    let mut effects = [effects.clone(), complete(&mut node, &effects)].concat();
    effects.extend(settle(&mut node, &effects, &BackingOp::Fence));
    for block in [1, 3] {
        let write = BackingOp::Write(block, [1].into());
        let flushing = settle(&mut node, &effects, &write);
        let flushed = settle(&mut node, &flushing, &BackingOp::Flush);
        effects = [flushed.clone(), complete(&mut node, &flushed)].concat();
        let expected = (block == 3).then_some(Authority::Backing);
        assert_eq!(put(&effects), expected, "after block {block}");
    }
}
