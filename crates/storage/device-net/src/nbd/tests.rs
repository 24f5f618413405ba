//! Tests against nbdkit and qemu-nbd, if they are installed; otherwise skipped with a message.

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use device::block::{BlockVolume, format};
use device::{
    Buffer, Device, DeviceError, Durability, OpenMode, Purpose, Request, Volume, conformance,
};
use device_os::{Backend, World};

use crate::{NbdAddress, NbdError, connect};

/// A server on a separate socket, ended when dropped.
struct Server {
    child: Child,
    socket: PathBuf,
}

impl Server {
    /// Starts nbdkit with these arguments; `None`, with a message, if it is not installed.
    fn start(words: &[&str]) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("plimsoll-nbd-{}-{number}", std::process::id());
        let socket = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&socket);
        let mut command = Command::new("nbdkit");
        command.args(["--foreground", "--exit-with-parent", "--unix"]).arg(&socket).args(words);
        Self::spawn(command, socket)
    }

    /// Starts qemu-nbd on the file `disk`.
    fn of_qemu(disk: &Path) -> Option<Self> {
        let socket = disk.with_extension("sock");
        let mut command = Command::new("qemu-nbd");
        command.args(["--persistent", "--format=raw", "--export-name=x", "--socket"]);
        command.arg(&socket).arg(disk);
        Self::spawn(command, socket)
    }

    #[expect(clippy::disallowed_methods, reason = "another program is waited for")]
    fn spawn(mut command: Command, socket: PathBuf) -> Option<Self> {
        let Ok(child) = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn() else {
            skipped(&command);
            return None;
        };
        let mut server = Self { child, socket };
        for _ in 0..500 {
            if UnixStream::connect(&server.socket).is_ok() {
                return Some(server);
            }
            assert!(server.child.try_wait().unwrap().is_none(), "{command:?} ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("{command:?} does not listen");
    }

    fn connect(&self, world: &World, mode: OpenMode) -> Result<Rc<dyn Device>, NbdError> {
        let text = format!("nbd+unix:///x?socket={}", self.socket.display());
        let (address, name, _) = NbdAddress::parse(&text, Path::exists).unwrap();
        connect(&address, &name, mode, world.remote())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.socket);
    }
}

#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn skipped(command: &Command) {
    eprintln!("skipped: {} is not installed", command.get_program().display());
}

fn conforms(server: &Server, backend: Backend) {
    let world = World::new(backend).unwrap();
    let device = server.connect(&world, OpenMode::ReadWrite).unwrap();
    let runtime = world.executor().runtime();
    let volume = world.executor().block_on(async move {
        format(&device, [1; 16]).await?;
        BlockVolume::open(device, &runtime).await
    });
    let volume: Rc<dyn Volume> = Rc::new(volume.unwrap());
    conformance::check_all(world.executor(), &volume);
}

#[test]
fn a_volume_on_an_export_conforms() {
    for backend in [Backend::Auto, Backend::Pool] {
        let Some(server) = Server::start(&["memory", "96M"]) else {
            return;
        };
        conforms(&server, backend);
    }
}

#[test]
fn a_volume_on_an_export_of_qemu_conforms() {
    let disk = std::env::temp_dir().join(format!("plimsoll-nbd-{}.img", std::process::id()));
    std::fs::File::create_new(&disk).unwrap().set_len(96 << 20).unwrap();
    if let Some(server) = Server::of_qemu(&disk) {
        conforms(&server, Backend::Auto);
    }
    std::fs::remove_file(&disk).unwrap();
}

/// Replies overtake each other.
#[test]
fn a_volume_on_a_slow_export_conforms() {
    let words = ["--filter=delay", "memory", "96M", "rdelay=1ms", "wdelay=1ms"];
    if let Some(server) = Server::start(&words) {
        conforms(&server, Backend::Auto);
    }
}

/// Requests caused by a durable write, for a server with force unit access and for one with only
/// flush.
#[test]
fn durable_writes_are_one_request_or_are_flushed() {
    for (can_fua, expected) in [("native", "pwrite fua\n"), ("none", "pwrite \nflush\n")] {
        let log =
            std::env::temp_dir().join(format!("plimsoll-nbd-{}-{can_fua}", std::process::id()));
        let writes = format!("pwrite=cat >/dev/null; echo \"pwrite $5\" >> {}", log.display());
        let flushes = format!("flush=echo flush >> {}", log.display());
        let can_fua = format!("can_fua=echo {can_fua}");
        let words = [
            "eval",
            "get_size=echo 100663296",
            "can_write=exit 0",
            "can_flush=exit 0",
            "pread=exit 1",
            &can_fua,
            &writes,
            &flushes,
        ];
        let Some(server) = Server::start(&words) else {
            return;
        };
        let world = World::new(Backend::Auto).unwrap();
        let device = server.connect(&world, OpenMode::ReadWrite).unwrap();
        let bytes = Buffer::zeroed(4_096);
        let write = Request::write(Purpose::Log, 0, bytes, Durability::Durable);
        world.executor().block_on(device.submit(write)).into_buffer().unwrap();
        let asked = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        assert_eq!(asked, expected, "{can_fua}");
    }
}

#[test]
fn exports_that_promise_nothing_are_refused_for_writes_and_read_all_the_same() {
    let world = World::new(Backend::Auto).unwrap();
    let Some(read_only) = Server::start(&["--readonly", "memory", "96M"]) else {
        return;
    };
    let refused = read_only.connect(&world, OpenMode::ReadWrite).err();
    assert!(matches!(refused, Some(NbdError::ReadOnly { .. })), "{refused:?}");
    assert!(read_only.connect(&world, OpenMode::ReadOnly).is_ok());
    let words = [
        "eval",
        "get_size=echo 100663296",
        "can_flush=exit 3",
        "can_write=exit 0",
        "pread=dd if=/dev/zero bs=$3 count=1 2>/dev/null",
        "pwrite=cat >/dev/null",
    ];
    let unsafe_one = Server::start(&words).unwrap();
    let refused = unsafe_one.connect(&world, OpenMode::ReadWrite).err();
    assert!(matches!(refused, Some(NbdError::NoFlush { .. })), "{refused:?}");
    assert!(unsafe_one.connect(&world, OpenMode::ReadOnly).is_ok());
}

#[test]
fn a_server_that_goes_fails_what_is_under_way_and_all_that_follows() {
    let Some(server) = Server::start(&["--filter=delay", "memory", "96M", "rdelay=60"]) else {
        return;
    };
    let world = World::new(Backend::Auto).unwrap();
    let device = server.connect(&world, OpenMode::ReadWrite).unwrap();
    let under_way = device.submit(Request::read(Purpose::Database, 0, 4_096));
    let bytes = Buffer::copy_of(&[7; 4_096]);
    let write = Request::write(Purpose::Database, 4_096, bytes, Durability::Durable);
    world.executor().block_on(device.submit(write)).result.unwrap();
    drop(server);
    let outcome = world.executor().block_on(under_way);
    assert!(outcome.buffer.is_some(), "the buffer comes back");
    let later = world.executor().block_on(device.submit(Request::flush(Purpose::Database)));
    for result in [outcome.result, later.result] {
        let Err(DeviceError::Disconnected { file, why }) = result else {
            panic!("after the server has gone: {result:?}");
        };
        assert!(file.starts_with("nbd+unix:///x?socket="), "{file}");
        assert!(why.contains("connection"), "{why}");
    }
}

#[test]
fn what_the_server_fails_at_is_told_in_its_words() {
    let words = [
        "--filter=error",
        "memory",
        "96M",
        "error-pwrite=ENOSPC",
        "error-pwrite-rate=1",
        "error-pread=EIO",
        "error-pread-rate=1",
    ];
    let Some(server) = Server::start(&words) else {
        return;
    };
    let world = World::new(Backend::Auto).unwrap();
    let device = server.connect(&world, OpenMode::ReadWrite).unwrap();
    let read = Request::read(Purpose::Database, 8_192, 4_096);
    let read = world.executor().block_on(device.submit(read)).result;
    let Err(DeviceError::Io { offset: 8_192, operation: "read", code: 5, .. }) = read else {
        panic!("a read that fails: {read:?}");
    };
    let bytes = Buffer::zeroed(4_096);
    let write = Request::write(Purpose::Database, 8_192, bytes, Durability::Volatile);
    let write = world.executor().block_on(device.submit(write)).result;
    assert!(matches!(write, Err(DeviceError::Full { offset: 8_192, .. })), "{write:?}");
}

#[test]
fn what_is_no_server_is_said_in_a_sentence() {
    let world = World::new(Backend::Auto).unwrap();
    let (address, name, _) = NbdAddress::parse("nbd://127.0.0.1:1/x", Path::exists).unwrap();
    let refused = connect(&address, &name, OpenMode::ReadWrite, world.remote()).err().unwrap();
    let text = refused.to_string();
    assert!(text.starts_with("nbd://127.0.0.1:1/x: no connection: "), "{text}");
}
