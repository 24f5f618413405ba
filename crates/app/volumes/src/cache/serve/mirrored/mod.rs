//! `cache serve --mirror`: one volume on the flash of this host and of its peer.

mod backing;
mod device;
mod driver;
mod event;
mod flash;
mod hall;
mod home;
mod line;
mod memory;
mod registry;
mod server;
mod settling;
mod status;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use carrier::{Carrier, Letters};
use device_os::World;
use host::{crew, wire};
use mirror::{FlashImage, MirrorNode, MirrorSettings};
use plan::MirroredVolume;
use units::Bytes;

use self::backing::SharedBacking;
use self::driver::{MirrorDriver, Outlets};
use self::event::{EventSlot, MirrorEvent};
use self::flash::FlashFile;
use self::server::MirrorServer;
use super::control;
use super::mailbox::DaemonInbox;
use super::socket::{ListenAddress, Listener, SocketFile, bind_unix};
use super::{manager, watch_signals};
use crate::cache::mirror::{self as shared};
use console::Console;
use console::Outcome;
use console::documents::read_text;
use console::error::CommandError;
use fleets::access;

/// Committed entries kept in the log for a peer that was briefly away.
const RETAINED: u64 = 4_096;

/// Blocks in one message of a resynchronisation.
const COPY_BLOCKS: u64 = 1 << 20;

/// How long a thread waits for orders before it checks that the line still exists.
const PATIENCE: Duration = Duration::from_secs(1);

/// Serves the volume of the document `file` until a signal, or `cache drain`.
pub(super) fn run(file: &Path, console: &mut Console) -> Result<Outcome, CommandError> {
    let (name, text) = read_text(file)?;
    let document = MirroredVolume::parse(&name, &text)?;
    let addresses = addresses(&document)?;
    let world = Rc::new(wire::world()?);
    let inbox = DaemonInbox::<MirrorEvent>::new(world.remote());
    let slot = EventSlot(inbox.slot());
    let carrier = connect(&document)?;
    let driver = driver(document, &world, &carrier, slot)?;
    let mailbox = DaemonInbox::new(world.remote());
    let _files = listen(&driver.document, addresses, &mailbox, console)?;
    watch_signals(mailbox.slot())?;
    let server = MirrorServer::new(Rc::clone(&driver), &world);
    drop(driver.runtime.spawn(Rc::clone(&driver).listen(inbox)));
    drop(driver.runtime.spawn(Rc::clone(&driver).tick()));
    manager::notify("READY=1");
    let ended = world.executor().block_on(server.run(mailbox));
    super::finish(&ended, console)
}

fn addresses(document: &MirroredVolume) -> Result<Vec<ListenAddress>, CommandError> {
    if document.listen.is_empty() {
        return Ok(vec![ListenAddress::parse("127.0.0.1:10809", false)?]);
    }
    document.listen.iter().map(|text| ListenAddress::parse(text, false)).collect()
}

fn connect(document: &MirroredVolume) -> Result<Carrier, CommandError> {
    let credentials = document.credentials.as_ref().map(Path::new);
    let name = format!("plimsoll cache {}", document.hosts[document.host]);
    Ok(Carrier::connect(&access::access(Some(&document.server), credentials, &name)?)?)
}

/// Creates everything except the client sockets.
fn driver(
    document: MirroredVolume,
    world: &Rc<World>,
    carrier: &Carrier,
    slot: EventSlot,
) -> Result<Rc<MirrorDriver>, CommandError> {
    let settings = settings(&document);
    let backing = backing(&document, world)?;
    let empty = FlashImage::empty(settings.backed, settings.retained);
    let path = Path::new(&document.flash);
    let identity = identity(&document);
    let opened = flash::open(path, &identity, empty.clone())?;
    let copy = opened.as_ref().map(|(_, image)| image);
    let registry = registry::open(carrier, &document, copy, slot.clone())?;
    let (file, image): (FlashFile, FlashImage) = match opened {
        Some(opened) => opened,
        None => (flash::create(path, &identity)?, empty),
    };
    let homes = home::open(&document, &identity, image.uses_homes(), world)?;
    let boot = world.executor().runtime().clock().epoch().0;
    let (me, peer) = (&document.hosts[document.host], &document.hosts[1 - document.host]);
    let line = line::open(carrier, &document.volume, (me, peer), boot, slot.clone())?;
    listen_to_orders(carrier.subscribe(shared::orders(&document.volume, me))?, carrier, &slot)?;
    let node = MirrorNode::start(registry::host(&document), boot, settings, image);
    let flash = flash::start(file, slot)?;
    let runtime = world.executor().runtime();
    let outlets = Outlets { flash, homes, line, registry, backing };
    let driver = MirrorDriver::new(document, node, runtime, outlets);
    driver.command(mirror::NodeCommand::OpenRemote);
    Ok(driver)
}

/// Identity recorded in the header of this host's copy.
fn identity(document: &MirroredVolume) -> String {
    format!("{} on {}", shared::identity(document), document.hosts[document.host])
}

fn settings(document: &MirroredVolume) -> MirrorSettings {
    let block = document.block.0;
    MirrorSettings {
        backed: document.device.is_some(),
        lease_ttl: document.lease,
        clock_drift_ppm: u64::from(document.clock_drift_ppm),
        dirty_limit: (document.dirty.0 / block).max(1),
        retained: RETAINED,
        batch_blocks: usize::try_from((COPY_BLOCKS / block).max(1)).unwrap_or(64),
        ..MirrorSettings::default()
    }
}

fn backing(
    document: &MirroredVolume,
    world: &Rc<World>,
) -> Result<Option<Rc<SharedBacking>>, CommandError> {
    let Some(device) = &document.device else { return Ok(None) };
    let path = PathBuf::from(device);
    let found = std::fs::metadata(&path).map_err(CommandError::of_file(&path, "examine"))?;
    if !found.is_file() {
        return Err(CommandError::new(format!(
            "{device}: is no file; two hosts share it safely only if a lock on it holds on both, \
             so name a file on a file system that both mount"
        )));
    }
    if found.len() < document.size.0 {
        return Err(CommandError::new(format!(
            "{device}: has {}, less than the volume's {}; make it larger (truncate --size {})",
            Bytes(found.len()),
            document.size,
            document.size.0
        )));
    }
    let block = usize::try_from(document.block.0).unwrap_or(4_096);
    Ok(Some(SharedBacking::new(path, block, Rc::clone(world))))
}

/// Posts operators' orders, and sends the answers.
fn listen_to_orders(
    letters: Letters,
    carrier: &Carrier,
    slot: &EventSlot,
) -> Result<(), CommandError> {
    let (replies, slot) = (carrier.replies(), slot.clone());
    crew::start_thread("orders", move || {
        while !letters.is_closed() {
            let Some(letter) = letters.next(PATIENCE) else { continue };
            let (answer, answered) = std::sync::mpsc::channel();
            slot.0.post(MirrorEvent::Order(letter.bytes, answer));
            if let (Some(subject), Ok(text)) = (letter.reply, answered.recv()) {
                replies.publish(subject, text.into_bytes());
            }
        }
    })?;
    Ok(())
}

/// Listens for clients and for questions.
fn listen(
    document: &MirroredVolume,
    addresses: Vec<ListenAddress>,
    mailbox: &DaemonInbox,
    console: &mut Console,
) -> Result<Vec<SocketFile>, CommandError> {
    let path = document.control.as_ref().map(PathBuf::from);
    let path = path.unwrap_or_else(|| control::path_of(Path::new(&document.flash)));
    let (listener, file) = bind_unix(&path)?;
    control::start(listener, mailbox.slot())?;
    let mut files = vec![file];
    for address in addresses {
        let (listener, file) = Listener::bind(&address)?;
        files.extend(file);
        listener.start(mailbox.slot())?;
        console.remark(format_args!("Serving at {address}"))?;
    }
    Ok(files)
}
