//! Timing of submissions to the kernel.

use std::rc::Rc;
use std::time::Duration;

use device::{Completion, Device, OpenMode, Purpose, Request};
use units::Nanos;

use super::MOST_TOGETHER;
use crate::Backend;
use crate::tests::world;

const PAGE_BYTES: usize = 4_096;

fn read(device: &Rc<dyn Device>) -> Completion {
    device.submit(Request::read(Purpose::Database, 0, PAGE_BYTES))
}

/// Waiting to form a batch is not part of a request's latency, and a request does not wait if its
/// file has no other in flight.
#[test]
fn time_begins_when_a_request_is_handed_over() {
    const OTHER_WORK: Duration = Duration::from_millis(30);
    let Some((_scratch, world, volume)) = world("together", Backend::Uring) else {
        return;
    };
    let runtime = world.executor().runtime();
    world.executor().block_on(async move {
        let mode = OpenMode::CreateNew { length: PAGE_BYTES as u64 };
        let file = volume.open("file", mode).await.unwrap();
        let other = volume.open("other", mode).await.unwrap();
        let reads = [read(&file), read(&other), read(&file)];
        let made = runtime.now();
        std::thread::sleep(OTHER_WORK);
        let mut submitted = Vec::new();
        for read in reads {
            let ended = read.await;
            submitted.push(ended.submitted);
            ended.into_buffer().unwrap();
        }
        let after_work = made + Nanos(OTHER_WORK.as_nanos().try_into().unwrap());
        assert!(submitted[0] <= made && submitted[1] <= made, "{submitted:?}, made {made:?}");
        assert!(submitted[2] >= after_work, "{submitted:?}, made {made:?}");
    });
}

/// A device receives the first of many requests before the last of them is issued.
#[test]
fn no_more_than_a_few_requests_wait_for_company() {
    let Some((_scratch, world, volume)) = world("a-few", Backend::Uring) else {
        return;
    };
    let runtime = world.executor().runtime();
    world.executor().block_on(async move {
        let mode = OpenMode::CreateNew { length: PAGE_BYTES as u64 };
        let file = volume.open("file", mode).await.unwrap();
        let alone = read(&file);
        let together = std::iter::repeat_with(|| read(&file)).take(MOST_TOGETHER);
        let together: Vec<_> = together.collect();
        let made = runtime.now();
        for read in std::iter::once(alone).chain(together) {
            let ended = read.await;
            assert!(ended.submitted <= made, "{:?}, made {made:?}", ended.submitted);
            ended.into_buffer().unwrap();
        }
    });
}
