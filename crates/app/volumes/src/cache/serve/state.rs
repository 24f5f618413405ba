//! The parts of the server.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use device::Runtime;
use device_os::Watcher;
use export::{ExportHall, MemoryBudget};
use export_iscsi::TargetHall;
use flashcache::FlashCache;
use rustls::ServerConfig;
use units::Nanos;

use super::backing::BehindCache;
use super::guest::Guest;
use super::settings::CacheServeSettings;
use super::stopping::Stopping;

/// Everything that the server works with.
pub(super) struct Daemon {
    pub settings: CacheServeSettings,
    pub cache: FlashCache,
    pub volumes: Vec<BehindCache>,
    pub(crate) hall: Rc<ExportHall>,
    /// The hall for clients that must encrypt.
    pub(crate) secure_hall: Rc<ExportHall>,
    pub tls: Option<Arc<ServerConfig>>,
    /// The iSCSI targets, if they are served.
    pub targets: Option<Rc<TargetHall>>,
    pub runtime: Runtime,
    pub(crate) watcher: Watcher,
    pub started: Nanos,
    pub clients: Cell<usize>,
    /// Connected clients that are initiators.
    pub(crate) initiators: Cell<usize>,
    /// Guests on this host over vhost-user, by connection number.
    pub(crate) guests: RefCell<BTreeMap<u64, Guest>>,
    /// Memory of all requests in progress.
    pub memory: MemoryBudget,
    /// Clients since the start.
    pub(crate) clients_seen: Cell<u64>,
    pub stopping: Rc<Stopping>,
    pub(crate) is_draining: Cell<bool>,
}
