//! Clients of both hosts at once. One roams: it works where the volume is served, as a virtual
//! machine that is started again on the other host. Others stay on their host and keep asking, even
//! while it does not answer: what waits for a paused host are the first requests that it sees when
//! it wakes.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{self, Scope};
use std::time::Duration;

use device::{Device, Durability, Runtime};
use device_os::{Backend, World};
use units::{Nanos, Prng, Seed};

use crate::mirrored::guest::{self, Progress};

/// Requests in flight of the client that roams, each to its own blocks.
const LANES: u64 = 3;

/// Its blocks.
const ROAMING: u64 = 24;

/// It gives a host up, with all requests, after this long without an answer: later than any lease.
const GIVES_UP: Nanos = Nanos::from_secs(7);

/// Blocks that clients on one host write, one at a time.
const OWN: u64 = 8;

/// Blocks that many are written of at once, on each host: enough that copying them takes a while.
const WIDE: u64 = 4_096;
const FIRST_WIDE: u64 = 1_024;
const AT_ONCE: u64 = 32;

/// Interval of requests that do not wait for each other, and their number: what a socket takes
/// while its server is paused for 30 s.
const PROBE: Nanos = Nanos::from_millis(200);
const MOST_PROBES: u64 = 220;

/// Pause of a client after each wide request.
const WIDE_PAUSE: Nanos = Nanos::from_millis(80);

/// See the module.
pub(super) struct Clients {
    pub(super) addresses: [String; 2],
    pub(super) progress: Arc<Progress>,
    pub(super) seed: u64,
}

/// What a connection works with.
#[derive(Clone)]
struct Session {
    device: Rc<dyn Device>,
    runtime: Runtime,
    progress: Arc<Progress>,
    prng: Prng,
    /// The first of the blocks that only this host's clients write.
    own: u64,
    /// The same of those that are written many at once.
    wide: u64,
    has_failed: Rc<Cell<bool>>,
}

impl Clients {
    /// Starts all of them; they end when the progress is over.
    pub(super) fn start<'a>(&'a self, scope: &'a Scope<'a, '_>) {
        scope.spawn(|| self.connect(|number| usize::from(number % 2 == 1), roam));
        for host in [0, 1] {
            scope.spawn(move || self.connect(|_| host, probe));
            scope.spawn(move || self.connect(|_| host, write_wide));
        }
    }

    /// Connects again and again, to the host that `host` chooses for each attempt.
    fn connect<W: Future<Output = ()> + 'static>(
        &self,
        host: impl Fn(u64) -> usize,
        work: fn(Session) -> W,
    ) {
        for number in 0.. {
            if self.progress.is_over() {
                return;
            }
            self.once(host(number), number, work);
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// One connection, until a request fails. The others in flight end with it.
    fn once<W: Future<Output = ()> + 'static>(
        &self,
        host: usize,
        number: u64,
        work: fn(Session) -> W,
    ) {
        let world = World::new(Backend::Auto).unwrap();
        let Some(device) = guest::open(&self.addresses[host], &world) else { return };
        let runtime = world.executor().runtime();
        let (progress, has_failed) = (Arc::clone(&self.progress), Rc::<Cell<bool>>::default());
        let session = Session {
            device,
            runtime: runtime.clone(),
            progress: Arc::clone(&progress),
            prng: Prng::new(Seed(self.seed << 20 | number)),
            own: ROAMING + OWN * host as u64,
            wide: FIRST_WIDE + WIDE * host as u64,
            has_failed: Rc::clone(&has_failed),
        };
        drop(runtime.spawn(work(session)));
        world.executor().block_on(async move {
            while !progress.is_over() && !has_failed.get() {
                runtime.sleep(Nanos::from_millis(20)).await;
            }
        });
    }
}

impl Session {
    /// Ends the connection if a request has failed.
    fn note(&self, is_done: bool) {
        self.has_failed.set(self.has_failed.get() || !is_done);
    }

    /// A block that any client may have written.
    fn any_block(&mut self) -> u64 {
        if self.prng.percent(80) {
            return self.prng.below(ROAMING + 2 * OWN);
        }
        FIRST_WIDE + self.prng.below(2 * WIDE)
    }

    /// Works on the blocks of one lane.
    async fn run_lane(mut self, lane: u64) {
        loop {
            let block = self.prng.below(ROAMING / LANES) * LANES + lane;
            let step = guest::step(&*self.device, &self.progress, block, &mut self.prng);
            let is_done = within(&self.runtime, GIVES_UP, step).await.unwrap_or(false);
            self.note(is_done);
            self.runtime.sleep(Nanos::from_millis(self.prng.below(6))).await;
        }
    }

    /// A request that has been sent.
    fn probed(&mut self) -> Pin<Box<dyn Future<Output = bool>>> {
        let history = Arc::clone(&self.progress.history);
        if self.prng.percent(15) {
            let blocks = (self.own + self.prng.below(OWN), 1);
            return Box::pin(guest::write(&*self.device, &history, blocks, Durability::Volatile));
        }
        let block = self.any_block();
        Box::pin(guest::read(&*self.device, &history, (block, 1)))
    }
}

/// Works in lanes, and gives the host up if it does not answer.
async fn roam(mut session: Session) {
    for lane in 0..LANES {
        let prng = Prng::new(Seed(session.prng.next_u64()));
        let of_lane = Session { prng, ..session.clone() };
        drop(session.runtime.spawn(of_lane.run_lane(lane)));
    }
}

/// Asks at a steady pace, whether answers come or not.
async fn probe(mut session: Session) {
    let outstanding = Rc::new(Cell::new(0));
    loop {
        session.runtime.sleep(PROBE).await;
        if outstanding.get() < MOST_PROBES {
            outstanding.set(outstanding.get() + 1);
            let (request, count) = (session.probed(), Rc::clone(&outstanding));
            let has_failed = Rc::clone(&session.has_failed);
            drop(session.runtime.spawn(async move {
                let is_done = request.await;
                count.set(count.get() - 1);
                has_failed.set(has_failed.get() || !is_done);
            }));
        }
    }
}

/// Writes many blocks at once, and reads some of them back.
async fn write_wide(mut session: Session) {
    let history = Arc::clone(&session.progress.history);
    loop {
        let first = session.wide + session.prng.below(WIDE / AT_ONCE) * AT_ONCE;
        let blocks = (first, AT_ONCE);
        let write = guest::write(&*session.device, &history, blocks, Durability::Volatile);
        session.note(write.await);
        if session.prng.percent(20) {
            session.note(guest::read(&*session.device, &history, blocks).await);
        }
        session.runtime.sleep(WIDE_PAUSE).await;
    }
}

/// The outcome of `work`; `None` if it takes longer than `span`.
async fn within<T>(runtime: &Runtime, span: Nanos, work: impl Future<Output = T>) -> Option<T> {
    let (mut work, mut sleep) = (pin!(work), pin!(runtime.sleep(span)));
    poll_fn(|context| {
        if let Poll::Ready(value) = work.as_mut().poll(context) {
            return Poll::Ready(Some(value));
        }
        sleep.as_mut().poll(context).map(|()| None)
    })
    .await
}
