//! Two hosts in networks of their own, and the faults in force.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::fault_volume::FaultVolume;
use xtask::network::{Direction, Network, Place};

use super::plan::{Fault, Plan, Step, Whom};
use crate::mirrored::guest::Progress;
use crate::mirrored::{HOSTS, Pair, PairDocument, VOLUME_BYTES, send_signal};
use crate::scene::Scene;

/// How long the server of a volume may take to say how it is.
const ANSWERS_WITHIN: Duration = Duration::from_millis(300);

/// How long requests wait for a host that serves: longer than any client that roams.
const PATIENCE_OF_REQUESTS: Duration = Duration::from_secs(20);

/// Pause between attempts to start a server that has ended by itself.
const RESTARTS_AFTER: Duration = Duration::from_millis(500);

/// A resynchronisation begins this soon after the end of a fault, or not at all.
const COPIES_WITHIN: Duration = Duration::from_secs(4);

/// Interval of checks while waiting, and their number: a minute.
const TURN: Duration = Duration::from_millis(20);
const MOST_TURNS: u32 = 3_000;

/// One consequence of a fault; several faults may have it at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Effect {
    Down(usize),
    NatsDown,
    Paused(usize),
    NatsPaused,
    /// Packets of this host are lost, to the NATS server or from it.
    Cut(usize, bool),
    /// Messages to this host are lost.
    Parted(usize),
    Slow(usize),
    FlashFails(usize),
}

/// See the module.
pub(super) struct Site<'a> {
    pub(super) pair: Pair,
    plan: &'a Plan,
    progress: &'a Progress,
    /// One for the flash of each host.
    volumes: Vec<FaultVolume>,
    in_force: BTreeMap<Effect, u32>,
    /// What each fault that has begun does.
    begun: Vec<(Fault, Vec<Effect>)>,
    owner: usize,
    orders: Vec<Child>,
    started: [Instant; 2],
    /// Faults that began during a resynchronisation, and during a hand-over.
    pub(super) within: [u32; 2],
}

impl<'a> Site<'a> {
    /// Starts everything; `None`, said aloud, on a machine that cannot.
    pub(super) fn new(plan: &'a Plan, progress: &'a Progress, seed: u64) -> Option<Self> {
        let scene = Scene::new(&format!("mirror-network-{seed}"));
        let volumes = HOSTS.map(|host| {
            let [disk, mount] = ["disk", "mount"].map(|end| scene.path(format!("{host}-{end}")));
            fs::create_dir(&disk).and_then(|()| fs::create_dir(&mount)).unwrap();
            FaultVolume::mount(&disk, &mount).unwrap()
        });
        let volumes = Vec::from(volumes);
        let network = Network::new(format!("plm{}x{seed}", std::process::id()), 2).unwrap();
        let document = PairDocument {
            patience: PATIENCE_OF_REQUESTS,
            folders: ["left-mount/", "right-mount/"],
            ..PairDocument::usual(plan.is_backed, VOLUME_BYTES)
        };
        let mut pair = Pair::within(scene, network, &document)?;
        pair.start(0);
        pair.start(1);
        let (in_force, begun, orders) = (BTreeMap::new(), Vec::new(), Vec::new());
        let (started, within) = ([Instant::now(); 2], [0; 2]);
        let mut site = Self {
            pair,
            plan,
            progress,
            volumes,
            in_force,
            begun,
            owner: 0,
            orders,
            started,
            within,
        };
        // A server that finds the machine too busy at its start ends, and is started again.
        site.tend("the first start", Self::is_whole);
        Some(site)
    }

    /// `true` if a host serves and both copies count.
    fn is_whole(&self) -> bool {
        [0, 1]
            .map(|host| self.ask(host))
            .iter()
            .any(|status| status["role"] == "owner" && status["data_on"] == "both")
    }

    /// Carries the plan out, and lets go of everything at its end.
    pub(super) fn suffer(&mut self) {
        let mut begun = Instant::now();
        for (at, step) in &self.plan.steps {
            let at = Duration::from_millis(*at);
            self.tend("the time of a fault", |_| begun.elapsed() >= at);
            match step {
                Step::Begin(fault) => self.begin(*fault),
                Step::End(fault) => self.end(*fault),
                Step::HandOver => self.hand_over(),
                Step::AwaitCopy => begun += self.await_copy(),
            }
        }
        assert!(self.in_force.is_empty(), "{:?}", self.in_force);
    }

    /// Waits for a resynchronisation, if there is one; how long.
    fn await_copy(&mut self) -> Duration {
        let begun = Instant::now();
        self.tend("a resynchronisation", |site| {
            let is_copying = |host| !site.ask(host)["resync"].is_null();
            begun.elapsed() > COPIES_WITHIN || [0, 1].into_iter().any(is_copying)
        });
        begun.elapsed()
    }

    /// Waits until both copies count again and clients have got on.
    pub(super) fn recover(&mut self) {
        let progress = self.progress;
        let before = progress.acknowledged.load(Ordering::Relaxed);
        self.tend("the end of all faults", |site| {
            site.is_whole() && progress.acknowledged.load(Ordering::Relaxed) > before + 100
        });
    }

    /// Waits, and meanwhile starts servers again that have ended by themselves.
    fn tend(&mut self, what: &str, mut until: impl FnMut(&Self) -> bool) {
        // Turns are counted, not seconds: a virtual machine that is itself paused is no fault.
        let mut turns = 0;
        while !until(self) {
            self.progress.history.check();
            turns += 1;
            let is_late = turns > MOST_TURNS;
            assert!(!is_late, "{what} does not come: {}\n{}", self.ask(0), self.ask(1));
            for host in [0, 1] {
                let child = self.pair.hosts[host].as_mut();
                let has_ended =
                    child.is_none_or(|child| child.try_wait().is_ok_and(|it| it.is_some()));
                let is_wanted = !self.in_force.contains_key(&Effect::Down(host));
                if has_ended && is_wanted && self.started[host].elapsed() > RESTARTS_AFTER {
                    self.start(host);
                }
            }
            thread::sleep(TURN);
        }
    }

    fn start(&mut self, host: usize) {
        self.started[host] = Instant::now();
        self.pair.kill(host);
        self.pair.start(host);
    }

    /// The state of a host's server; null if it does not answer soon.
    fn ask(&self, host: usize) -> Value {
        let asked = || {
            let socket = self.pair.scene.path(format!("{}.flash.sock", HOSTS[host]));
            let mut stream = UnixStream::connect(socket)?;
            stream.set_read_timeout(Some(ANSWERS_WITHIN))?;
            writeln!(stream, "status")?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            std::io::Result::Ok(text)
        };
        asked().ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    fn begin(&mut self, fault: Fault) {
        let states = [0, 1].map(|host| self.ask(host));
        if let Some(owner) = states.iter().position(|state| state["role"] == "owner") {
            self.owner = owner;
        }
        self.within[0] += u32::from(states.iter().any(|state| !state["resync"].is_null()));
        let under_way = |order: &mut Child| order.try_wait().is_ok_and(|status| status.is_none());
        self.within[1] += u32::from(self.orders.iter_mut().any(under_way));
        let effects = effects(fault, self.owner);
        for effect in &effects {
            let count = self.in_force.entry(*effect).or_default();
            *count += 1;
            if *count == 1 {
                self.impose(*effect);
            }
        }
        self.begun.push((fault, effects));
    }

    fn end(&mut self, fault: Fault) {
        let at = self.begun.iter().position(|(begun, _)| *begun == fault).unwrap();
        for effect in self.begun.remove(at).1 {
            let count = self.in_force.get_mut(&effect).unwrap();
            *count -= 1;
            if *count == 0 {
                self.in_force.remove(&effect);
                self.lift(effect);
            }
        }
    }

    fn network(&self) -> &Network {
        self.pair.network.as_ref().unwrap()
    }

    fn impose(&mut self, effect: Effect) {
        match effect {
            Effect::Down(host) => self.pair.kill(host),
            Effect::NatsDown => self.pair.kill_nats(),
            Effect::Paused(host) => {
                self.pair.signal(host, "-STOP");
                self.progress.frozen[host].store(host == self.owner, Ordering::Relaxed);
            }
            Effect::NatsPaused => send_signal(self.pair.nats.as_ref(), "-STOP"),
            Effect::Cut(host, to) => self.cut(host, to, true),
            Effect::Parted(_) => self.part(),
            Effect::Slow(host) => self.slow(host, Some(self.plan.kbit)),
            Effect::FlashFails(host) => {
                self.volumes[host].set(vec![self.plan.flash_rule.parse().unwrap()]);
            }
        }
    }

    fn lift(&mut self, effect: Effect) {
        match effect {
            Effect::Down(host) => self.start(host),
            Effect::NatsDown => drop(self.pair.start_nats()),
            Effect::Paused(host) => {
                self.progress.frozen[host].store(false, Ordering::Relaxed);
                self.pair.signal(host, "-CONT");
            }
            Effect::NatsPaused => send_signal(self.pair.nats.as_ref(), "-CONT"),
            Effect::Cut(host, to) => self.cut(host, to, false),
            Effect::Parted(_) => self.part(),
            Effect::Slow(host) => self.slow(host, None),
            Effect::FlashFails(host) => self.renew_flash(host),
        }
    }

    fn cut(&self, host: usize, to: bool, is_cut: bool) {
        let direction = if to { Direction::ToServer } else { Direction::FromServer };
        self.network().cut(Place::client(host + 1), direction, is_cut).unwrap();
    }

    fn slow(&self, host: usize, kbit: Option<u32>) {
        for direction in [Direction::ToServer, Direction::FromServer] {
            self.network().slow(Place::client(host + 1), direction, kbit).unwrap();
        }
    }

    /// Has the NATS server refuse the messages that are lost now.
    fn part(&self) {
        let allowed = [0, 1].map(|host| !self.in_force.contains_key(&Effect::Parted(host)));
        self.pair.allow_messages(allowed);
        send_signal(self.pair.nats.as_ref(), "-HUP");
    }

    /// Sound flash again, empty if the other host has everything; its server is started anew.
    fn renew_flash(&mut self, host: usize) {
        self.volumes[host].set(Vec::new());
        let other = self.ask(1 - host);
        let is_elsewhere = other["data_on"] == HOSTS[1 - host] || other["data_on"] == "device";
        self.pair.kill(host);
        if self.plan.replaces_flash && other["role"] == "owner" && is_elsewhere {
            let copy = self.pair.scene.path(format!("{0}-mount/{0}.flash", HOSTS[host]));
            fs::remove_file(copy).unwrap();
        }
        if !self.in_force.contains_key(&Effect::Down(host)) {
            self.start(host);
        }
    }

    /// Orders the volume to the other host; the order may fail.
    fn hand_over(&mut self) {
        let owner = [0, 1].into_iter().find(|host| self.ask(*host)["role"] == "owner");
        let target = HOSTS[1 - owner.unwrap_or(self.owner)];
        let server = self.pair.server();
        let words = ["cache", "hand-over", "mail", target, "--server", &server];
        let mut command = self.pair.placed(self.pair.scene.command(words), Place::SERVER);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.orders.push(command.spawn().unwrap());
    }

    /// Every epoch must have been served by one host only; their number.
    pub(super) fn check_epochs(&self) -> usize {
        let served = HOSTS.map(|host| {
            let log = self.pair.scene.path(format!("{host}.err"));
            let text = fs::read_to_string(log).unwrap_or_default();
            let epochs = text.lines().filter_map(|line| line.split_once("by this host, epoch "));
            epochs.map(|(_, epoch)| epoch.to_owned()).collect::<BTreeSet<_>>()
        });
        let both: Vec<_> = served[0].intersection(&served[1]).collect();
        assert!(both.is_empty(), "both hosts have served epochs {both:?}");
        served.iter().map(BTreeSet::len).sum()
    }
}

impl Drop for Site<'_> {
    fn drop(&mut self) {
        for order in &mut self.orders {
            let _ = order.kill().and_then(|()| order.wait());
        }
        if thread::panicking() {
            eprintln!("{}", self.pair.messages());
        }
        // The volumes are in the folder that goes with the pair.
        self.pair.kill(0);
        self.pair.kill(1);
        self.volumes.clear();
    }
}

/// What a fault does while `owner` has the volume.
fn effects(fault: Fault, owner: usize) -> Vec<Effect> {
    let host = |whom| if whom == Whom::Owner { owner } else { 1 - owner };
    match fault {
        Fault::Kill(whom) => vec![Effect::Down(host(whom))],
        Fault::KillBoth => vec![Effect::Down(0), Effect::Down(1)],
        Fault::KillNats => vec![Effect::NatsDown],
        Fault::Pause(whom) => vec![Effect::Paused(host(whom))],
        Fault::PauseNats => vec![Effect::NatsPaused],
        Fault::Cut(whom, Some(way)) => vec![Effect::Cut(host(whom), way == Direction::ToServer)],
        Fault::Cut(whom, None) => [true, false].map(|to| Effect::Cut(host(whom), to)).into(),
        Fault::Part(whom) => vec![Effect::Parted(1 - host(whom))],
        Fault::PartBoth => vec![Effect::Parted(0), Effect::Parted(1)],
        Fault::Slow(whom) => vec![Effect::Slow(host(whom))],
        Fault::Flash(whom) => vec![Effect::FlashFails(host(whom))],
    }
}
