use std::rc::Rc;

use device::{
    Buffer, Completed, Device, DeviceError, Durability, Executor, Latency, MemoryVolume, OpenMode,
    Purpose, Request, Runtime, VirtualReactor, Volume, conformance,
};
use units::{Nanos, Seed};

use super::{Call, Effect, Fault, FaultPlan, FaultyVolume, Matching, Occurrence};

const PAGE: usize = 4_096;

struct World {
    executor: Executor,
    runtime: Runtime,
    memory: MemoryVolume,
    volume: FaultyVolume,
}

fn world(faults: Vec<Fault>) -> World {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos(10), Nanos(90), Seed(3));
    let memory = MemoryVolume::new("memory", &reactor, latency);
    let executor = Executor::new(reactor);
    let plan = FaultPlan { seed: Seed(11), faults };
    let runtime = executor.runtime();
    let volume = FaultyVolume::new(Rc::new(memory.clone()), plan, runtime.clone());
    World { executor, runtime, memory, volume }
}

fn fault(call: Call, occurrence: Occurrence, effect: Effect) -> Fault {
    Fault { matching: Matching { call: Some(call), ..Matching::default() }, occurrence, effect }
}

fn write(page: u64, byte: u8) -> Request {
    let buffer = Buffer::copy_of(&[byte; PAGE]);
    let offset = page * PAGE as u64;
    Request::write(Purpose::Database, offset, buffer, Durability::Volatile)
}

fn read(page: u64) -> Request {
    Request::read(Purpose::Database, page * PAGE as u64, PAGE)
}

/// Makes a file of eight pages, page `p` full of bytes `p + 1`, bypassing the faults; then submits
/// `requests` one after another through them.
fn outcomes(world: &World, requests: Vec<Request>) -> Vec<Completed> {
    let (memory, volume) = (world.memory.clone(), world.volume.clone());
    world.executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 8 * PAGE as u64 };
        let device = memory.open("file", mode).await.unwrap();
        for (page, byte) in (0..8).zip(1..) {
            device.submit(write(page, byte)).await.result.unwrap();
        }
        drop(device);
        let device = volume.open("file", OpenMode::ReadWrite).await.unwrap();
        let mut outcomes = Vec::new();
        for request in requests {
            outcomes.push(device.submit(request).await);
        }
        outcomes
    })
}

fn stored(world: &World) -> Vec<u8> {
    world.memory.image().files["file"].to_vec()
}

/// The pages of the stored file that differ from those that `outcomes` made, with their first
/// bytes.
fn changed(world: &World) -> Vec<(usize, u8)> {
    let stored = stored(world);
    let pages = stored.chunks(PAGE).zip(1_u8..).enumerate();
    let differs = |&(_, (page, byte)): &(usize, (&[u8], u8))| page.iter().any(|&b| b != byte);
    pages.filter(differs).map(|(at, (page, _))| (at, page[0])).collect()
}

#[test]
fn conforms_where_nothing_is_planned() {
    let world = world(Vec::new());
    let volume: Rc<dyn Volume> = Rc::new(world.volume.clone());
    conformance::check_all(&world.executor, &volume);
    assert_eq!(world.volume.injections(), []);
}

#[test]
fn the_nth_call_fails_once_and_names_the_place() {
    let effect = Effect::Fail { done: false };
    let world = world(vec![fault(Call::Write, Occurrence::Nth(2), effect)]);
    let outcomes = outcomes(&world, vec![write(0, 91), write(1, 92), write(2, 93)]);
    assert_eq!(
        outcomes[1].result.as_ref().unwrap_err().to_string(),
        "memory/file: write at byte 4096 failed: injected fault (error 5); \
         check the disk and the system log"
    );
    assert!(outcomes[1].buffer.is_some(), "the buffer comes back");
    assert!(outcomes[0].result.is_ok() && outcomes[2].result.is_ok());
    assert_eq!(changed(&world), [(0, 91), (2, 93)]);
    assert_eq!(world.volume.injections().len(), 1);
}

#[test]
fn a_write_may_fail_although_it_was_done() {
    let effect = Effect::Fail { done: true };
    let world = world(vec![fault(Call::Write, Occurrence::From(2), effect)]);
    let outcomes = outcomes(&world, vec![write(0, 91), write(1, 92), write(2, 93)]);
    let failed: Vec<_> = outcomes.iter().map(|outcome| outcome.result.is_err()).collect();
    assert_eq!(failed, [false, true, true]);
    assert_eq!(changed(&world), [(0, 91), (1, 92), (2, 93)]);
}

#[test]
fn faults_match_by_purpose_and_file() {
    let log_of = |file: &str| Fault {
        matching: Matching { call: None, purpose: Some(Purpose::Log), file: Some(file.to_owned()) },
        occurrence: Occurrence::From(1),
        effect: Effect::Fail { done: false },
    };
    let log = || Request::flush(Purpose::Log);
    let matching = world(vec![log_of("fil")]);
    let seen = outcomes(&matching, vec![write(0, 91), log(), Request::flush(Purpose::Database)]);
    let failed: Vec<_> = seen.iter().map(|outcome| outcome.result.is_err()).collect();
    assert_eq!(failed, [false, true, false]);
    let other = world(vec![log_of("E00")]);
    assert!(outcomes(&other, vec![log()])[0].result.is_ok());
}

#[test]
fn a_full_volume_refuses_growth_and_writes_but_not_reads() {
    let any = |occurrence, effect| Fault { matching: Matching::default(), occurrence, effect };
    // The first call is the open of the file, which cannot fail for lack of space.
    let world = world(vec![any(Occurrence::From(1), Effect::Full)]);
    let grow = Request::set_length(Purpose::Database, 1 << 20);
    let outcomes = outcomes(&world, vec![read(0), write(1, 92), grow]);
    assert!(outcomes[0].result.is_ok());
    let full = |offset| Err(DeviceError::Full { file: "memory/file".to_owned(), offset });
    assert_eq!(outcomes[1].result, full(4_096));
    assert_eq!(outcomes[2].result, full(1 << 20));
    let volume = world.volume.clone();
    let mode = OpenMode::CreateNew { length: 4_096 };
    let error = world.executor.block_on(async move { volume.open("new", mode).await.err() });
    assert!(matches!(error, Some(DeviceError::Full { .. })), "{error:?}");
    assert_eq!(world.memory.image().files.len(), 1, "nothing was created");
    assert_eq!(changed(&world), []);
}

#[test]
fn a_volume_that_is_full_midway_has_the_beginning_of_a_write() {
    let midway = fault(Call::Write, Occurrence::From(1), Effect::FullMidway);
    let world = world(vec![midway]);
    let four_pages = || {
        let buffer = Buffer::copy_of(&[92; 4 * PAGE]);
        Request::write(Purpose::Database, PAGE as u64, buffer, Durability::Volatile)
    };
    let seen = outcomes(&world, (0..16).map(|_| four_pages()).collect());
    let is_full = |one: &Completed| matches!(one.result, Err(DeviceError::Full { .. }));
    assert!(seen.iter().all(is_full));
    // Of sixteen such writes the longest part counts.
    assert_eq!(changed(&world), [(1, 92), (2, 92), (3, 92)]);
}

#[test]
fn a_short_read_says_how_much_it_moved() {
    let world = world(vec![fault(Call::Read, Occurrence::Nth(1), Effect::ShortRead)]);
    let outcome = outcomes(&world, vec![read(3)]).remove(0);
    let Err(DeviceError::Short { wanted, moved, .. }) = outcome.result else {
        panic!("{outcome:?}");
    };
    assert_eq!(wanted, PAGE);
    assert!(moved < wanted && moved.is_multiple_of(512));
    assert!(outcome.buffer.unwrap()[..moved].iter().all(|&byte| byte == 4));
}

fn bits_that_differ(bytes: &[u8], byte: u8) -> u32 {
    bytes.iter().map(|&found| (found ^ byte).count_ones()).sum()
}

#[test]
fn bits_rot_on_the_way_in_and_on_the_way_out() {
    let rot = |call| fault(call, Occurrence::Nth(1), Effect::FlipBits(1));
    let world = world(vec![rot(Call::Read), rot(Call::Write)]);
    let outcomes = outcomes(&world, vec![read(0), write(5, 99), read(0)]);
    let bytes = |at: usize| outcomes[at].buffer.as_ref().unwrap();
    assert_eq!(bits_that_differ(bytes(0), 1), 1, "the read is wrong");
    assert_eq!(bits_that_differ(bytes(2), 1), 0, "what is stored is right");
    assert_eq!(bits_that_differ(bytes(1), 99), 0, "the caller keeps its bytes");
    assert_eq!(bits_that_differ(&stored(&world)[5 * PAGE..6 * PAGE], 99), 1);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()), "nothing is said");
}

#[test]
fn a_lost_write_is_acknowledged_and_never_happens() {
    let world = world(vec![fault(Call::Write, Occurrence::Nth(1), Effect::LoseWrite)]);
    let outcomes = outcomes(&world, vec![write(0, 91), write(1, 92)]);
    assert!(outcomes.iter().all(|outcome| outcome.result.is_ok()));
    assert_eq!(outcomes[0].buffer.as_ref().unwrap()[0], 91);
    assert_eq!(changed(&world), [(1, 92)]);
}

#[test]
fn a_misdirected_write_lands_where_the_record_says() {
    let world = world(vec![fault(Call::Write, Occurrence::Nth(1), Effect::MisdirectWrite)]);
    let outcomes = outcomes(&world, vec![write(3, 91)]);
    assert!(outcomes[0].result.is_ok());
    let injection = world.volume.injections().remove(0);
    assert_eq!((injection.call, injection.offset), (Call::Write, 3 * PAGE as u64));
    let landed = usize::try_from(injection.landed.unwrap()).unwrap() / PAGE;
    assert_ne!(landed, 3);
    assert_eq!(changed(&world), [(landed, 91)]);
}

#[test]
fn a_torn_write_mixes_old_and_new_sectors() {
    let world = world(vec![fault(Call::Write, Occurrence::Nth(1), Effect::TearWrite)]);
    let outcomes = outcomes(&world, vec![write(3, 91)]);
    assert!(outcomes[0].result.is_ok());
    let stored = stored(&world);
    let mut kinds = std::collections::BTreeSet::new();
    for sector in stored[3 * PAGE..4 * PAGE].chunks(512) {
        assert!(sector.iter().all(|&byte| byte == sector[0]));
        kinds.insert(sector[0]);
    }
    assert_eq!(kinds, [4, 91].into());
}

#[test]
fn a_stall_takes_longer_and_nothing_else() {
    let stall = Effect::Stall(Nanos::from_secs(2));
    let world = world(vec![fault(Call::Write, Occurrence::Nth(2), stall)]);
    let outcomes = outcomes(&world, vec![write(0, 91), write(1, 92)]);
    assert!(outcomes[0].latency() < Nanos(100));
    assert!(outcomes[1].latency() > Nanos::from_secs(2));
    assert!(outcomes[1].result.is_ok());
    assert_eq!(changed(&world), [(0, 91), (1, 92)]);
    assert!(world.runtime.now() > Nanos::from_secs(2));
}

#[test]
fn operations_on_names_fail_by_plan() {
    let fail = |call| fault(call, Occurrence::Nth(1), Effect::Fail { done: false });
    let world = world(vec![fail(Call::Rename), fail(Call::Remove), fail(Call::Create)]);
    let volume = world.volume.clone();
    world.executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 4_096 };
        assert!(volume.open("a", mode).await.is_err());
        let _device = volume.open("a", mode).await.unwrap();
        assert!(volume.rename("a", "b").await.is_err());
        assert!(volume.remove("a").await.is_err());
        volume.rename("a", "b").await.unwrap();
        volume.remove("b").await.unwrap();
    });
    assert_eq!(world.volume.injections().len(), 3);
}

#[test]
fn many_in_flight_with_every_kind_of_lie_never_overlap() {
    let every = |step, effect| fault(Call::Write, Occurrence::Every(step), effect);
    let world = world(vec![
        every(7, Effect::MisdirectWrite),
        every(5, Effect::TearWrite),
        every(3, Effect::Stall(Nanos(500))),
        every(2, Effect::LoseWrite),
    ]);
    let volume = world.volume.clone();
    // The memory device below asserts that nothing overlaps.
    world.executor.block_on(async move {
        let mode = OpenMode::CreateNew { length: 8 * PAGE as u64 };
        let device: Rc<dyn Device> = volume.open("file", mode).await.unwrap();
        for round in 0..50 {
            let writes: Vec<_> = (0..8).map(|page| device.submit(write(page, round))).collect();
            for write in writes {
                write.await.result.unwrap();
            }
        }
    });
    let injections = world.volume.injections();
    assert!(injections.len() > 200, "{} injections", injections.len());
}
