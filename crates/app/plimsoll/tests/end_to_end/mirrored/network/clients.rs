//! Clients of both hosts at once. One roams: it works where the volume is served, as a virtual
//! machine that is started again on the other host. Others stay on their host and keep asking, even
//! while it does not answer: what waits for a paused host are the first requests that it sees when
//! it wakes.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
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

/// It gives a host up after this long without an answer: later than any lease.
const GIVES_UP: Nanos = Nanos::from_secs(5);

/// A client that ends a connection waits this long for the other requests in flight. A write that
/// is abandoned while its host serves may still be carried out.
const ENDS_WITHIN: Nanos = Nanos::from_secs(5);

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
    in_flight: Rc<Cell<u64>>,
}

/// A request in flight, until dropped.
struct InFlight(Rc<Cell<u64>>);

impl InFlight {
    fn begin(count: &Rc<Cell<u64>>) -> Self {
        count.set(count.get() + 1);
        Self(Rc::clone(count))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
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
        let mut frozen = Vec::new();
        for number in 0.. {
            if self.progress.is_over() {
                return;
            }
            frozen.extend(self.once(host(number), number, work));
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// One connection, until a request fails. It ends, unless the host is frozen with its client:
    /// then the connection is returned, as it lasts.
    fn once<W: Future<Output = ()> + 'static>(
        &self,
        host: usize,
        number: u64,
        work: fn(Session) -> W,
    ) -> Option<(Rc<dyn Device>, World)> {
        let world = World::new(Backend::Auto).unwrap();
        let device = guest::open(&self.addresses[host], &world)?;
        let runtime = world.executor().runtime();
        let (progress, has_failed) = (Arc::clone(&self.progress), Rc::<Cell<bool>>::default());
        let in_flight = Rc::<Cell<u64>>::default();
        let session = Session {
            device: Rc::clone(&device),
            runtime: runtime.clone(),
            progress: Arc::clone(&progress),
            prng: Prng::new(Seed(self.seed << 20 | number)),
            own: ROAMING + OWN * host as u64,
            wide: FIRST_WIDE + WIDE * host as u64,
            has_failed: Rc::clone(&has_failed),
            in_flight: Rc::clone(&in_flight),
        };
        drop(runtime.spawn(work(session)));
        world.executor().block_on(async move {
            while !progress.is_over() && !has_failed.get() {
                runtime.sleep(Nanos::from_millis(20)).await;
            }
            let limit = runtime.now() + ENDS_WITHIN;
            while in_flight.get() > 0 && runtime.now() < limit {
                runtime.sleep(Nanos::from_millis(5)).await;
            }
        });
        world.executor().abandon();
        self.progress.frozen[host].load(Ordering::Relaxed).then_some((device, world))
    }
}

impl Session {
    fn is_over(&self) -> bool {
        self.progress.is_over() || self.has_failed.get()
    }

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
        while !self.is_over() {
            let block = self.prng.below(ROAMING / LANES) * LANES + lane;
            let in_flight = InFlight::begin(&self.in_flight);
            let step = guest::step(&*self.device, &self.progress, block, &mut self.prng);
            let is_done = late(&self.runtime, &self.has_failed, step).await;
            drop(in_flight);
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
    while !session.is_over() {
        if session.in_flight.get() < MOST_PROBES {
            let in_flight = InFlight::begin(&session.in_flight);
            let (request, has_failed) = (session.probed(), Rc::clone(&session.has_failed));
            drop(session.runtime.spawn(async move {
                let is_done = request.await;
                drop(in_flight);
                has_failed.set(has_failed.get() || !is_done);
            }));
        }
        session.runtime.sleep(PROBE).await;
    }
}

/// Writes many blocks at once, and reads some of them back.
async fn write_wide(mut session: Session) {
    let history = Arc::clone(&session.progress.history);
    while !session.is_over() {
        let in_flight = InFlight::begin(&session.in_flight);
        let first = session.wide + session.prng.below(WIDE / AT_ONCE) * AT_ONCE;
        let blocks = (first, AT_ONCE);
        let write = guest::write(&*session.device, &history, blocks, Durability::Volatile);
        session.note(write.await);
        if session.prng.percent(20) {
            session.note(guest::read(&*session.device, &history, blocks).await);
        }
        drop(in_flight);
        session.runtime.sleep(WIDE_PAUSE).await;
    }
}

/// The outcome of `work`; `is_late` is set if it takes too long.
async fn late<T>(runtime: &Runtime, is_late: &Cell<bool>, work: impl Future<Output = T>) -> T {
    let (mut work, mut sleep) = (pin!(work), pin!(runtime.sleep(GIVES_UP)));
    poll_fn(|context| {
        if !is_late.get() && sleep.as_mut().poll(context).is_ready() {
            is_late.set(true);
        }
        work.as_mut().poll(context)
    })
    .await
}
