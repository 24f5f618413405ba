//! Exports of NBD servers as raw devices. The protocol has no lock, so a volume is held by its
//! identity, whatever its export is called: against every other process of this machine.

use std::path::Path;
use std::rc::Rc;

use device::{Caps, Completion, Device, DeviceError, OpenMode, Request, block};
use device_net::{NbdAddress, connect};
use device_os::World;
use device_os::probe::{Caching, DurableWrites, VolumeFacts};
use units::hexadecimal;

use super::error::TargetError;
use crate::system::{self, Hold, NameHold};

/// Replaces the kernel's statement on caches.
const OUT_OF_SIGHT: &str = "what an NBD server does with requests cannot be seen from here";

/// Splits a text into the address at its start, the text of that address, and the rest.
pub(super) fn parse(text: &str) -> Option<(NbdAddress, String, String)> {
    NbdAddress::parse(text, Path::exists)
}

/// Connects to an export, whatever is on it.
pub(super) fn open(
    address: &NbdAddress,
    name: &str,
    world: &World,
    mode: OpenMode,
) -> Result<Rc<dyn Device>, TargetError> {
    Ok(connect(address, name, mode, world.remote())?)
}

/// The volume on `device` for this process alone, or to be read while no process has it so.
pub(super) fn hold(
    device: Rc<dyn Device>,
    world: &World,
    mode: OpenMode,
) -> Result<Rc<dyn Device>, TargetError> {
    let asked = Rc::clone(&device);
    let identity = world.executor().block_on(async move { block::identity(&asked).await })?;
    let name = hold_name(&identity);
    let hold = if mode == OpenMode::ReadOnly {
        if system::is_name_held(&name) { Hold::Busy } else { Hold::Unheld }
    } else {
        system::hold_name(&name)
    };
    match hold {
        Hold::Held(hold) => Ok(Rc::new(HeldExport { device, _hold: hold })),
        Hold::Unheld => Ok(device),
        Hold::Busy => Err(DeviceError::Locked { file: device.name().to_owned() }.into()),
    }
}

fn hold_name(identity: &[u8; 16]) -> String {
    format!("plimsoll-volume-{}", hexadecimal(identity))
}

/// An export whose volume this process has locked while it is open.
struct HeldExport {
    device: Rc<dyn Device>,
    _hold: NameHold,
}

impl Device for HeldExport {
    fn submit(&self, request: Request) -> Completion {
        self.device.submit(request)
    }

    fn caps(&self) -> Caps {
        self.device.caps()
    }

    fn length(&self) -> u64 {
        self.device.length()
    }

    fn name(&self) -> &str {
        self.device.name()
    }
}

/// Facts about an export called `name` with `total_bytes` bytes, of which `free_bytes` are free.
pub(super) fn facts(name: &str, total_bytes: u64, free_bytes: u64) -> VolumeFacts {
    VolumeFacts {
        mount_point: name.to_owned(),
        file_system: "none, export of an NBD server".to_owned(),
        source: name.to_owned(),
        options: "none".to_owned(),
        free_bytes,
        total_bytes,
        caching: Caching::Unknown(OUT_OF_SIGHT.to_owned()),
        disk: None,
        durable_writes: DurableWrites::Export,
        kernel: "unknown: the server's own".to_owned(),
        allocation_unit_bytes: None,
        marks: Vec::new(),
        bitlocker: None,
        io_limits: Vec::new(),
        space_limits: Vec::new(),
    }
}
