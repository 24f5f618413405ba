//! Handles a hypervisor's messages before and between its guest's requests. The messages are rare,
//! and a separate thread waits for them: a hypervisor that stops in the middle of one delays only
//! itself.

use std::fmt;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use vhost::vhost_user::message::{
    VhostTransferStateDirection, VhostTransferStatePhase, VhostUserConfigFlags, VhostUserInflight,
    VhostUserLog, VhostUserMemoryRegion, VhostUserProtocolFeatures, VhostUserShMemConfig,
    VhostUserSharedMsg, VhostUserSingleMemoryRegion, VhostUserVirtioFeatures,
    VhostUserVringAddrFlags, VhostUserVringState,
};
use vhost::vhost_user::{
    BackendReqHandler, Error, GpuBackend, Result, VhostUserBackendReqHandlerMut,
};
use virtio_queue::{Queue, QueueT as _};
use vm_memory::GuestAddress;

use crate::bell::is_counter;
use crate::guest_memory::SharedGuestMemory;
use crate::numbers::feature;
use crate::offer::{BlockOffer, MOST_RINGS};
use crate::rings::{RingOrder, RingStart};

/// Maximum number of requests in one ring. Source: virtio 1.2, 2.7.
const LARGEST_RING: u16 = 32_768;

/// Why a connection ended before the hypervisor disconnected.
#[derive(Debug)]
pub struct NegotiationError(Error);

impl fmt::Display for NegotiationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what a hypervisor sent is not vhost-user as this server speaks it: {}", self.0)
    }
}

/// Answers a hypervisor until it leaves, and passes its orders on.
///
/// # Errors
///
/// The hypervisor violates the protocol.
pub fn negotiate(
    socket: UnixStream,
    offer: BlockOffer,
    orders: Box<dyn Fn(RingOrder) + Send>,
) -> std::result::Result<(), NegotiationError> {
    let device = GuestDevice {
        offer,
        orders,
        memory: SharedGuestMemory::default(),
        features: 0,
        rings: (0..MOST_RINGS).map(|_| RingSettings::default()).collect(),
    };
    let mut handler = BackendReqHandler::from_stream(socket, Arc::new(Mutex::new(device)));
    loop {
        match handler.handle_request() {
            Ok(()) | Err(Error::SocketRetry(_)) => {}
            Err(Error::Disconnected | Error::SocketBroken(_)) => return Ok(()),
            Err(error) => return Err(NegotiationError(error)),
        }
    }
}

/// Settings of a ring, complete or not.
#[derive(Default)]
struct RingSettings {
    size: u16,
    position: u16,
    /// Descriptors, available ring and used ring, as guest addresses.
    addresses: [u64; 3],
    kick: Option<File>,
    answer: Option<File>,
    is_enabled: bool,
    is_running: bool,
}

struct GuestDevice {
    offer: BlockOffer,
    orders: Box<dyn Fn(RingOrder) + Send>,
    memory: SharedGuestMemory,
    /// Feature bits accepted by the guest's driver.
    features: u64,
    rings: Vec<RingSettings>,
}

impl GuestDevice {
    fn ring(&mut self, number: u32) -> Result<&mut RingSettings> {
        self.rings.get_mut(number as usize).ok_or(Error::InvalidParam)
    }

    /// Starts a ring that is complete but not running.
    fn start_if_complete(&mut self, number: u32) -> Result<()> {
        let (features, memory) = (self.features, self.memory.clone());
        let ring = self.ring(number)?;
        if ring.is_running || !ring.is_enabled {
            return Ok(());
        }
        let Some(kick) = ring.kick.as_ref() else {
            return Ok(());
        };
        let start = RingStart {
            queue: ring.queue(features, &memory)?,
            memory,
            kick: duplicate(kick)?,
            answer: ring.answer.as_ref().map(duplicate).transpose()?,
            writes_through: features & feature::FLUSH == 0,
        };
        ring.is_running = true;
        (self.orders)(RingOrder::Start(number as usize, start));
        Ok(())
    }

    /// Stops a ring; returns its position.
    fn stop(&mut self, number: u32) -> Result<u16> {
        if !std::mem::take(&mut self.ring(number)?.is_running) {
            return Ok(self.ring(number)?.position);
        }
        let (stopped, position) = channel();
        (self.orders)(RingOrder::Stop(number as usize, stopped));
        // No answer arrives if the server ends.
        let position = position.recv().map_err(|_| Error::BackendInternalError)?;
        self.ring(number)?.position = position;
        Ok(position)
    }
}

fn duplicate(file: &File) -> Result<File> {
    file.try_clone().map_err(Error::ReqHandlerError)
}

impl RingSettings {
    fn queue(&self, features: u64, memory: &SharedGuestMemory) -> Result<Queue> {
        let mut queue = Queue::new(LARGEST_RING).map_err(|_| Error::BackendInternalError)?;
        queue.set_size(self.size);
        let [descriptors, available, used] = self.addresses.map(GuestAddress);
        let placed = queue
            .try_set_desc_table_address(descriptors)
            .and_then(|()| queue.try_set_avail_ring_address(available))
            .and_then(|()| queue.try_set_used_ring_address(used));
        placed.map_err(|_| Error::InvalidParam)?;
        queue.set_event_idx(features & feature::EVENT_INDEX != 0);
        queue.set_next_avail(self.position);
        queue.set_ready(true);
        let memory = memory.now();
        let answered = queue.used_idx(&*memory, std::sync::atomic::Ordering::Acquire);
        queue.set_next_used(answered.map_err(|_| Error::InvalidParam)?.0);
        if queue.is_valid(&*memory) { Ok(queue) } else { Err(Error::InvalidParam) }
    }
}

/// Refuses a feature that the server does not offer.
const fn refused<T>() -> Result<T> {
    Err(Error::InvalidOperation("the server does not offer it"))
}

impl VhostUserBackendReqHandlerMut for GuestDevice {
    fn set_owner(&mut self) -> Result<()> {
        Ok(())
    }

    fn reset_owner(&mut self) -> Result<()> {
        self.reset_device()
    }

    fn reset_device(&mut self) -> Result<()> {
        for number in 0..u32::from(MOST_RINGS) {
            self.stop(number)?;
            *self.ring(number)? = RingSettings::default();
        }
        self.features = 0;
        Ok(())
    }

    fn get_features(&mut self) -> Result<u64> {
        Ok(self.offer.features() | VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits())
    }

    fn set_features(&mut self, features: u64) -> Result<()> {
        if features & !self.get_features()? != 0 {
            return Err(Error::InvalidParam);
        }
        self.features = features;
        // Without this feature no message enables a ring.
        if features & VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits() == 0 {
            self.rings.iter_mut().for_each(|ring| ring.is_enabled = true);
        }
        Ok(())
    }

    fn set_mem_table(
        &mut self,
        regions: &[VhostUserMemoryRegion],
        files: Vec<File>,
        _postcopy: Option<bool>,
    ) -> Result<Option<Vec<vhost::VhostUserMemoryRegionBase>>> {
        self.memory.replace(regions, files).ok_or(Error::InvalidParam)?;
        Ok(None)
    }

    fn set_vring_num(&mut self, number: u32, size: u32) -> Result<()> {
        let is_possible = size.is_power_of_two() && size <= u32::from(LARGEST_RING);
        let size = u16::try_from(size).ok().filter(|_| is_possible).ok_or(Error::InvalidParam)?;
        self.ring(number)?.size = size;
        Ok(())
    }

    fn set_vring_addr(
        &mut self,
        number: u32,
        _flags: VhostUserVringAddrFlags,
        descriptor: u64,
        used: u64,
        available: u64,
        _log: u64,
    ) -> Result<()> {
        let places = [descriptor, available, used].map(|user| self.memory.guest_address(user));
        let [Some(descriptor), Some(available), Some(used)] = places else {
            return Err(Error::InvalidParam);
        };
        self.ring(number)?.addresses = [descriptor, available, used];
        Ok(())
    }

    fn set_vring_base(&mut self, number: u32, base: u32) -> Result<()> {
        self.ring(number)?.position = u16::try_from(base).map_err(|_| Error::InvalidParam)?;
        Ok(())
    }

    fn get_vring_base(&mut self, number: u32) -> Result<VhostUserVringState> {
        let position = self.stop(number)?;
        self.ring(number)?.kick = None;
        Ok(VhostUserVringState::new(number, u32::from(position)))
    }

    fn set_vring_kick(&mut self, number: u8, file: Option<File>) -> Result<()> {
        // Without a file the server would have to poll the ring.
        let file = file.filter(is_counter).ok_or(Error::IncorrectFds)?;
        self.ring(number.into())?.kick = Some(file);
        self.start_if_complete(number.into())
    }

    fn set_vring_call(&mut self, number: u8, file: Option<File>) -> Result<()> {
        if file.as_ref().is_some_and(|file| !is_counter(file)) {
            return Err(Error::IncorrectFds);
        }
        let ring = self.ring(number.into())?;
        let told = file.as_ref().map(duplicate).transpose()?;
        ring.answer = file;
        if ring.is_running {
            (self.orders)(RingOrder::AnswerWith(number.into(), told));
        }
        Ok(())
    }

    fn set_vring_err(&mut self, number: u8, _file: Option<File>) -> Result<()> {
        self.ring(number.into()).map(|_| ())
    }

    fn get_protocol_features(&mut self) -> Result<VhostUserProtocolFeatures> {
        Ok(VhostUserProtocolFeatures::MQ | VhostUserProtocolFeatures::CONFIG)
    }

    fn set_protocol_features(&mut self, _features: u64) -> Result<()> {
        Ok(())
    }

    fn get_queue_num(&mut self) -> Result<u64> {
        Ok(MOST_RINGS.into())
    }

    fn set_vring_enable(&mut self, number: u32, enable: bool) -> Result<()> {
        self.ring(number)?.is_enabled = enable;
        if enable { self.start_if_complete(number) } else { self.stop(number).map(|_| ()) }
    }

    fn get_config(
        &mut self,
        offset: u32,
        size: u32,
        _flags: VhostUserConfigFlags,
    ) -> Result<Vec<u8>> {
        Ok(self.offer.configuration(offset, size))
    }

    fn set_config(&mut self, _offset: u32, _: &[u8], _: VhostUserConfigFlags) -> Result<()> {
        refused()
    }

    fn set_gpu_socket(&mut self, _gpu: GpuBackend) -> Result<()> {
        refused()
    }

    fn get_shared_object(&mut self, _: VhostUserSharedMsg) -> Result<File> {
        refused()
    }

    fn get_inflight_fd(&mut self, _: &VhostUserInflight) -> Result<(VhostUserInflight, File)> {
        refused()
    }

    fn set_inflight_fd(&mut self, _: &VhostUserInflight, _file: File) -> Result<()> {
        refused()
    }

    fn get_max_mem_slots(&mut self) -> Result<u64> {
        refused()
    }

    fn add_mem_region(
        &mut self,
        _region: &VhostUserSingleMemoryRegion,
        _file: File,
        _postcopy: Option<bool>,
    ) -> Result<Option<vhost::VhostUserMemoryRegionBase>> {
        refused()
    }

    fn remove_mem_region(&mut self, _: &VhostUserSingleMemoryRegion) -> Result<()> {
        refused()
    }

    fn set_device_state_fd(
        &mut self,
        _direction: VhostTransferStateDirection,
        _phase: VhostTransferStatePhase,
        _file: File,
    ) -> Result<Option<File>> {
        refused()
    }

    fn check_device_state(&mut self) -> Result<()> {
        refused()
    }

    fn get_shmem_config(&mut self) -> Result<VhostUserShMemConfig> {
        refused()
    }

    fn set_log_base(&mut self, _: &VhostUserLog, _file: File) -> Result<()> {
        refused()
    }
}
