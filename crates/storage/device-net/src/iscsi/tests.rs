//! Tests against tgt, if it is installed; otherwise skipped with a message.

use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};

use device::block::{BlockVolume, format};
use device::{
    Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Volume, conformance,
};
use device_os::{Backend, World};
use testkit::tgt::{TARGET, Tgt};

use super::{
    Authentication, ChapLogin, ChapSecret, IscsiAddress, IscsiError, IscsiInitiator, IscsiPortal,
    Lun, connect_lun, discover,
};

/// A separate folder for a target, removed at the end.
struct Ground(PathBuf);

impl Ground {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-iscsi-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const DISK_BYTES: u64 = 96 << 20;

/// A target with LUN 1; `None` if tgt is not installed.
fn target(folder: &Path) -> Option<Tgt> {
    let target = Tgt::start(folder)?;
    target.add_lun(1, DISK_BYTES);
    Some(target)
}

fn initiator(chap: Option<ChapLogin>) -> IscsiInitiator {
    IscsiInitiator { name: "iqn.2026-11.example.plimsoll:test".to_owned(), chap }
}

fn chap(user: &str, secret: &str, target_secret: Option<&str>) -> ChapLogin {
    let secret_of = |text: &str| ChapSecret::new(text).unwrap();
    ChapLogin::new(user, secret_of(secret), target_secret.map(secret_of)).unwrap()
}

fn attach(target: &Tgt, lun: u16, chap: Option<ChapLogin>) -> Result<Lun, IscsiError> {
    let (address, name, _) = IscsiAddress::parse(&target.address(None, lun)).unwrap();
    Lun::attach(&address, &name, &initiator(chap))
}

fn connect(
    target: &Tgt,
    lun: u16,
    world: &World,
    mode: OpenMode,
) -> Result<Rc<dyn Device>, IscsiError> {
    let (address, name, _) = IscsiAddress::parse(&target.address(None, lun)).unwrap();
    connect_lun(&address, &name, &initiator(None), mode, world.remote())
}

fn conforms(target: &Tgt, backend: Backend) {
    let world = World::new(backend).unwrap();
    let device = connect(target, 1, &world, OpenMode::ReadWrite).unwrap();
    let runtime = world.executor().runtime();
    let volume = world.executor().block_on(async move {
        format(&device, [1; 16]).await?;
        BlockVolume::open(device, &runtime).await
    });
    let volume: Rc<dyn Volume> = Rc::new(volume.unwrap());
    conformance::check_all(world.executor(), &volume);
}

/// Data is sent with its command, unsolicited, or on request, as the target demands.
#[test]
fn a_volume_on_a_lun_conforms_however_data_moves() {
    let settings: [&[(&str, &str)]; 4] = [
        &[],
        &[("InitialR2T", "No"), ("FirstBurstLength", "65536")],
        &[("ImmediateData", "No")],
        &[
            ("InitialR2T", "No"),
            ("ImmediateData", "No"),
            ("MaxBurstLength", "16384"),
            ("FirstBurstLength", "8192"),
            ("MaxRecvDataSegmentLength", "4096"),
        ],
    ];
    for (number, setting) in settings.into_iter().enumerate() {
        let ground = Ground::new();
        let Some(target) = target(&ground.0) else {
            return;
        };
        for (name, value) in setting {
            target.set_target(name, value);
        }
        conforms(&target, if number == 0 { Backend::Pool } else { Backend::Auto });
    }
}

#[test]
fn a_lun_tells_what_it_is() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    let lun = attach(&target, 1, None).unwrap();
    assert_eq!(lun.authentication(), Authentication::None);
    assert_eq!((lun.capacity().bytes(), lun.capacity().block_bytes), (DISK_BYTES, 512));
    assert_eq!(
        (lun.identity().vendor.as_str(), lun.identity().product.as_str()),
        ("IET", "VIRTUAL-DISK")
    );
    assert_eq!(lun.identity().serial.as_deref(), Some("beaf11"));
    assert_eq!(lun.caching().write_cache, Some(true));
    lun.test().unwrap();
}

#[test]
fn a_target_is_discovered_by_the_portal_that_was_asked() {
    let ground = Ground::new();
    let Some(target) = Tgt::start_with(&ground.0, &["127.0.0.2"]) else {
        return;
    };
    let portal = IscsiPortal::parse(&target.portal()).unwrap();
    let found = discover(&portal, &initiator(None)).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].name, TARGET);
    // tgt only lists the portal that was asked, even if it has others.
    assert_eq!(found[0].portals, [portal]);
}

#[test]
fn the_initiator_proves_who_it_is() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    target.add_account("mail", "a-good-secret", false);
    let right = attach(&target, 1, Some(chap("mail", "a-good-secret", None))).unwrap();
    assert_eq!(right.authentication(), Authentication::OneWay);
    let wrong = attach(&target, 1, Some(chap("mail", "a-bad-secret1", None))).err();
    assert!(matches!(wrong, Some(IscsiError::WrongSecret { .. })), "{wrong:?}");
    let other = attach(&target, 1, Some(chap("liam", "a-good-secret", None))).err();
    assert!(matches!(other, Some(IscsiError::WrongSecret { .. })), "{other:?}");
    let missing = attach(&target, 1, None).err();
    assert!(matches!(missing, Some(IscsiError::UserNeeded { .. })), "{missing:?}");
    let unproven = attach(&target, 1, Some(chap("mail", "a-good-secret", Some("target-secret"))));
    let unproven = unproven.err();
    // tgt refuses to prove itself with the status of a wrong secret.
    assert!(matches!(unproven, Some(IscsiError::WrongSecret { .. })), "{unproven:?}");
}

#[test]
fn the_target_proves_who_it_is() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    target.add_account("mail", "a-good-secret", false);
    target.add_account("array", "target-secret", true);
    let login = |secret| Some(chap("mail", "a-good-secret", Some(secret)));
    let both = attach(&target, 1, login("target-secret")).unwrap();
    assert_eq!(both.authentication(), Authentication::Mutual);
    let wrong = attach(&target, 1, login("other-secret1")).err();
    assert!(matches!(wrong, Some(IscsiError::WrongTarget { .. })), "{wrong:?}");
}

/// A target that requires no authentication cannot prove anything.
#[test]
fn a_target_that_should_prove_itself_and_does_not_is_refused() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    let asked = attach(&target, 1, Some(chap("mail", "a-good-secret", Some("target-secret"))));
    assert!(asked.is_err());
    let unasked = attach(&target, 1, Some(chap("mail", "a-good-secret", None))).unwrap();
    assert_eq!(unasked.authentication(), Authentication::None);
}

#[expect(clippy::disallowed_methods, reason = "the disk behind the target is looked at")]
#[test]
fn a_write_protected_lun_is_read_and_never_written() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    fs::write(target.disk(1), vec![7; usize::try_from(DISK_BYTES).unwrap()]).unwrap();
    target.set(1, "readonly=1");
    let world = World::new(Backend::Auto).unwrap();
    let refused = connect(&target, 1, &world, OpenMode::ReadWrite).err();
    assert!(matches!(refused, Some(IscsiError::ReadOnly { .. })), "{refused:?}");
    let device = connect(&target, 1, &world, OpenMode::ReadOnly).unwrap();
    let read = Request::read(Purpose::Database, 8_192, 4_096);
    let read = world.executor().block_on(device.submit(read)).into_buffer().unwrap();
    assert!(read.iter().all(|&byte| byte == 7));
    let bytes = Buffer::zeroed(4_096);
    let write = Request::write(Purpose::Database, 8_192, bytes, Durability::Durable);
    let refused = world.executor().block_on(device.submit(write)).result;
    assert!(matches!(refused, Err(DeviceError::PermissionDenied { .. })), "{refused:?}");
    assert!(fs::read(target.disk(1)).unwrap().iter().all(|&byte| byte == 7));
}

/// A unit that becomes write-protected while it is open reports it.
#[test]
fn a_write_that_the_target_refuses_fails_in_its_words() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    let world = World::new(Backend::Auto).unwrap();
    let device = connect(&target, 1, &world, OpenMode::ReadWrite).unwrap();
    target.set(1, "readonly=1");
    let bytes = Buffer::zeroed(64 << 10);
    let write = Request::write(Purpose::Database, 8_192, bytes, Durability::Volatile);
    let refused = world.executor().block_on(device.submit(write)).result.unwrap_err();
    assert!(refused.to_string().contains("write protected"), "{refused}");
}

#[test]
fn long_requests_are_taken_apart_and_many_go_at_once() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    let world = World::new(Backend::Auto).unwrap();
    let device = connect(&target, 1, &world, OpenMode::ReadWrite).unwrap();
    let long: Vec<u8> =
        (0..9_u32 << 20).map(|at| (at / 4_096 * 31 + at).to_le_bytes()[0]).collect();
    let bytes = Buffer::copy_of(&long);
    let write = Request::write(Purpose::Database, 4_096, bytes, Durability::Durable);
    world.executor().block_on(device.submit(write)).result.unwrap();
    let read = Request::read(Purpose::Database, 4_096, long.len());
    let read = world.executor().block_on(device.submit(read)).into_buffer().unwrap();
    assert!(read[..] == long[..], "what was written is read");
    // More than a target's window permits.
    let reads: Vec<_> = (0..512_u64)
        .map(|at| device.submit(Request::read(Purpose::Database, 4_096 + at * 4_096, 4_096)))
        .collect();
    for (at, read) in reads.into_iter().enumerate() {
        let read = world.executor().block_on(read).into_buffer().unwrap();
        assert!(read[..] == long[at * 4_096..(at + 1) * 4_096], "read {at}");
    }
}

#[test]
fn a_target_that_goes_fails_what_is_under_way_and_all_that_follows() {
    let ground = Ground::new();
    let Some(mut target) = target(&ground.0) else {
        return;
    };
    let world = World::new(Backend::Auto).unwrap();
    let device = connect(&target, 1, &world, OpenMode::ReadWrite).unwrap();
    target.kill();
    for _ in 0..2 {
        let read = Request::read(Purpose::Database, 0, 4_096);
        let outcome = world.executor().block_on(device.submit(read));
        assert!(outcome.buffer.is_some(), "the buffer comes back");
        let Err(DeviceError::Disconnected { file, .. }) = outcome.result else {
            panic!("after the target has gone: {:?}", outcome.result);
        };
        assert_eq!(file, target.address(None, 1));
    }
}

#[test]
fn what_is_no_disk_is_said_in_a_sentence() {
    let ground = Ground::new();
    let Some(target) = target(&ground.0) else {
        return;
    };
    let missing = attach(&target, 7, None).err().unwrap().to_string();
    assert!(missing.ends_with("no LUN of that number; it has 0, 1"), "{missing}");
    let controller = attach(&target, 0, None).err().unwrap().to_string();
    assert!(controller.contains("is no disk (SCSI type 12)"), "{controller}");
    let text = target.address(None, 1).replace(":mail", ":none");
    let (address, name, _) = IscsiAddress::parse(&text).unwrap();
    let none = Lun::attach(&address, &name, &initiator(None)).err().unwrap().to_string();
    assert!(none.contains("it has no target of that name"), "{none}");
    let text = format!("iscsi://127.0.0.1:1/{TARGET}/1");
    let (address, name, _) = IscsiAddress::parse(&text).unwrap();
    let none = Lun::attach(&address, &name, &initiator(None)).err().unwrap().to_string();
    assert!(none.contains(": no connection: "), "{none}");
}
