//! Changes that are one step for all clients.

use std::rc::Rc;

use device::{Buffer, Executor, Latency, MemoryVolume, OpenMode, VirtualReactor, Volume as _};
use export::{ExportedVolume, NbdCommand, Performed};
use units::{Nanos, Seed};

const BYTES: u64 = 1 << 20;

fn stage() -> (Executor, Rc<ExportedVolume>) {
    let reactor = VirtualReactor::new();
    let latency = Latency::spread(Nanos(1_000), Nanos(90_000), Seed(4));
    let storage = MemoryVolume::new("memory", &reactor, latency);
    let executor = Executor::new(reactor);
    let opening =
        async move { storage.open("volume", OpenMode::CreateNew { length: BYTES }).await };
    let device = executor.block_on(opening).expect("storage that works");
    (executor, Rc::new(ExportedVolume::new(device)))
}

/// Thirty clients count a byte up by comparisons, each until it has succeeded ten times.
#[test]
fn comparisons_of_several_clients_lose_no_write() {
    let (executor, volume) = stage();
    let runtime = executor.runtime();
    let mut clients = Vec::new();
    for _ in 0..30 {
        let volume = Rc::clone(&volume);
        clients.push(runtime.spawn(async move {
            let (mut expected, mut done) = (0_u8, 0);
            while done < 10 {
                let (old, new) = ([expected; 100], [expected.wrapping_add(1); 100]);
                let outcome = volume.compare_and_write(700, &old, &new).await;
                match outcome.expect("storage that works") {
                    None => done += 1,
                    Some(place) => assert_eq!(place, 0),
                }
                expected = expected.wrapping_add(1);
            }
        }));
    }
    let count = executor.block_on(async move {
        for client in clients {
            client.await;
        }
        let read = volume.perform(NbdCommand::Read, (699, 102), false).await;
        let Ok(Performed::Bytes(bytes)) = read else { panic!("storage that works") };
        bytes.to_vec()
    });
    // 300 steps, modulo 256; the bytes before and after are unchanged.
    let inner = u8::try_from(300 % 256).expect("below 256");
    assert!(count[1..101].iter().all(|byte| *byte == inner), "{}", count[1]);
    assert_eq!((count[0], count[101]), (0, 0));
}

#[test]
fn a_fill_repeats_its_pattern_and_settling_waits_for_what_has_begun() {
    let (executor, volume) = stage();
    let runtime = executor.runtime();
    let pattern: Vec<u8> = (0..=255).cycle().take(512).collect();
    let filling = {
        let (volume, pattern) = (Rc::clone(&volume), pattern.clone());
        runtime.spawn(async move { volume.fill(512..512 + 51_200, &pattern).await })
    };
    let payload = Buffer::copy_of(&[9; 512]);
    let writing = {
        let volume = Rc::clone(&volume);
        let write = NbdCommand::Write(payload);
        runtime.spawn(async move { volume.perform(write, (90_112, 512), false).await })
    };
    let all = executor.block_on(async move {
        filling.await.expect("storage that works");
        volume.settle().await;
        let read = volume.perform(NbdCommand::Read, (0, 102_400), false).await;
        drop(writing.await);
        let Ok(Performed::Bytes(bytes)) = read else { panic!("storage that works") };
        bytes.to_vec()
    });
    assert!(all[512..][..51_200].chunks(512).all(|block| block == pattern));
    assert!(all[90_112..][..512] == [9; 512] && all[..512] == [0; 512]);
}
