//! `cache serve`: volumes behind one flash pool, for NBD clients on this machine.

mod backing;
mod client;
pub(super) mod control;
mod daemon;
mod guest;
mod guests;
mod identity;
mod iscsi;
mod mailbox;
mod manager;
mod mirrored;
mod presence;
mod report;
mod settings;
mod socket;
mod state;
mod stopping;
mod storage;
mod tls;

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use device::OpenMode;
use device_os::{World, inherited_sockets};
use export::{ExportHall, ExportOffer, Limits, MemoryBudget};
use flashcache::{CacheStore, FlashCache, StoredVolume};
use host::{crew, wire};
use rustls::ServerConfig;
use units::Bytes;

use super::flags::CacheServeFlags;
use super::flash;
use backing::{BehindCache, Warmth};
use console::Outcome;
use console::error::CommandError;
use console::system;
use console::{self, Console};
use daemon::Ended;
use mailbox::{DaemonInbox, DaemonMessage, Slot};
use settings::CacheServeSettings;
use socket::{ListenAddress, Listener, SocketFile, bind_unix};
use state::Daemon;

/// Serves until a signal, or `cache drain`.
pub(super) fn run(flags: &CacheServeFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if flags.example {
        console.answer_text(plan::ServedCache::example())?;
        return Ok(Outcome::Pass);
    }
    if flags.two_hosts.example_mirror {
        console.answer_text(plan::MirroredVolume::example())?;
        return Ok(Outcome::Pass);
    }
    if let Some(file) = &flags.two_hosts.mirror {
        return mirrored::run(file, console);
    }
    let settings = CacheServeSettings::read(flags)?;
    let tls = settings.document.tls.as_ref().map(tls::config).transpose()?;
    let world = wire::world()?;
    let (cache, stored) = open_store(&settings, &world)?;
    let volumes = open_volumes(&settings, &world, (&cache, &stored), console)?;
    let mailbox = DaemonInbox::new(world.remote());
    let _files = listen(&settings, &mailbox.slot(), console)?;
    let block = cache.store().block_bytes();
    let _sockets = guests::listen((&volumes, block), &mailbox.slot(), console)?;
    watch_signals(mailbox.slot())?;
    let daemon = Rc::new(daemon(settings, &world, (cache, volumes), tls)?);
    if let Some(targets) = &daemon.targets {
        iscsi::announce(targets, console)?;
    }
    manager::notify("READY=1");
    let ended = world.executor().block_on(daemon.run(mailbox));
    finish(&ended, console)
}

/// Reports how the server ended, on its terminal and to the clients that asked for it.
fn finish(ended: &Ended, console: &mut Console) -> Result<Outcome, CommandError> {
    let text = ended.errors.join("; ");
    for waiting in &ended.waiting {
        let _ = waiting.send(text.clone());
    }
    if !ended.waiting.is_empty() {
        // The threads that carry the answers end with the process.
        std::thread::sleep(Duration::from_millis(200));
    }
    if ended.errors.is_empty() {
        console.remark("Stopped: every write is on its volume, and the cache starts warm.")?;
        return Ok(Outcome::Pass);
    }
    Err(CommandError::Damage(format!("stopped with errors: {text}")))
}

/// Opens the cache; also returns the volumes as its last session left them.
fn open_store(
    settings: &CacheServeSettings,
    world: &World,
) -> Result<(FlashCache, Vec<StoredVolume>), CommandError> {
    let device = flash::open(
        Path::new(&settings.document.flash),
        world,
        OpenMode::ReadWrite,
        flash::AFTER_A_KILL,
    )?;
    let runtime = world.executor().runtime();
    let opening = async move { CacheStore::open(device, &runtime).await };
    let (store, _) = world.executor().block_on(opening)?;
    let stored = store.stored_volumes();
    Ok((FlashCache::new(store, settings.document.write_budget), stored))
}

fn open_volumes(
    settings: &CacheServeSettings,
    world: &World,
    (cache, stored): (&FlashCache, &[StoredVolume]),
    console: &mut Console,
) -> Result<Vec<BehindCache>, CommandError> {
    let mut volumes = Vec::new();
    for wish in &settings.document.volumes {
        let (volume, warmth) = BehindCache::open(wish, world, cache, stored)?;
        let status = cache.store().status();
        let held = status.volumes.iter().find(|known| known.name == volume.key);
        let cached = match held {
            Some(held) => Bytes(held.blocks * u64::from(cache.store().block_bytes())).to_string(),
            None => "nothing, for the cache has no room for its name,".to_owned(),
        };
        let (name, length) = (&wish.name, Bytes(volume.exported.bytes()));
        console.remark(match warmth {
            Warmth::New => format!("{name}: {length} on {}, not cached yet", wish.device),
            Warmth::Kept => format!("{name}: {length} on {}, {cached} cached", wish.device),
            Warmth::Changed => format!(
                "{name}: {length} on {}; something else changed it since the last session, so its \
                 cached blocks were dropped",
                wish.device
            ),
        })?;
        volumes.push(volume);
    }
    Ok(volumes)
}

/// Listens at every address, and at the sockets that a service manager opened.
fn listen(
    settings: &CacheServeSettings,
    slot: &Slot,
    console: &mut Console,
) -> Result<Vec<SocketFile>, CommandError> {
    let mut files = Vec::new();
    let (control, file) = bind_unix(&settings.control)?;
    files.push(file);
    control::start(control, slot.clone())?;
    if let Some(address) = &settings.document.metrics
        && let ListenAddress::Tcp(address) = ListenAddress::parse(address, false)?
        && let (Listener::Tcp(listener), _) = Listener::bind(&ListenAddress::Tcp(address))?
    {
        control::start_metrics(listener, slot.clone())?;
    }
    let inherited = inherited_sockets();
    let has_inherited = !inherited.is_empty();
    for socket in inherited {
        Listener::inherited(socket, settings.document.tls.is_some())?.start(slot.clone())?;
    }
    if let Some(settings) = &settings.iscsi {
        iscsi::listen(settings, slot, console)?;
    }
    // A manager's sockets replace those of the document.
    let addresses = if has_inherited { &[][..] } else { &settings.addresses };
    for address in addresses {
        let (listener, file) = Listener::bind(address)?;
        files.extend(file);
        listener.start(slot.clone())?;
        console.remark(format_args!("Serving at {address}"))?;
    }
    Ok(files)
}

/// Posts signals. The first termination signal shuts down cleanly, the second ends the program at
/// once.
fn watch_signals(slot: Slot) -> Result<(), CommandError> {
    let (stop, reload) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    system::serve_on_request(&stop, &reload)?;
    crew::start_thread("signals", move || {
        while !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(50));
            if reload.swap(false, Ordering::Relaxed) {
                slot.post(DaemonMessage::Reload);
            }
        }
        console::say(&"stopping: requests in progress are answered, then everything is written");
        slot.post(DaemonMessage::Stop);
    })?;
    Ok(())
}

fn daemon(
    settings: CacheServeSettings,
    world: &World,
    (cache, volumes): (FlashCache, Vec<BehindCache>),
    tls: Option<Arc<ServerConfig>>,
) -> Result<Daemon, CommandError> {
    let block = cache.store().block_bytes();
    let mut offers = Vec::new();
    for volume in &volumes {
        let wish = volume.wish.borrow();
        offers.push(ExportOffer {
            name: wish.name.clone(),
            description: format!("{} behind a flash cache", wish.device),
            bytes: volume.exported.bytes(),
            is_read_only: wish.is_read_only,
            preferred_block: block,
        });
    }
    let memory = MemoryBudget::new(settings.document.memory.0);
    let offers: Rc<[_]> = offers.into();
    let [hall, secure_hall] = [false, true].map(|needs_tls| {
        Rc::new(ExportHall {
            offers: Rc::clone(&offers),
            volumes: volumes.iter().map(|volume| Rc::clone(&volume.exported)).collect(),
            limits: Limits { needs_tls, ..Limits::default() },
            memory: memory.clone(),
        })
    });
    let targets = settings
        .iscsi
        .as_ref()
        .map(|settings| iscsi::hall(settings, &volumes, block, memory.clone()).map(Rc::new))
        .transpose()?;
    let runtime = world.executor().runtime();
    Ok(Daemon {
        settings,
        cache,
        volumes,
        hall,
        secure_hall,
        targets,
        tls,
        started: runtime.now(),
        runtime,
        watcher: world.watcher(),
        clients: Cell::new(0),
        initiators: Cell::new(0),
        guests: RefCell::default(),
        memory,
        clients_seen: Cell::new(0),
        stopping: Rc::default(),
        is_draining: Cell::new(false),
    })
}
