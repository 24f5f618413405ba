//! A QEMU machine with served volumes as disks; killed when dropped.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xtask::failure::Failure;

use super::program::dependent;

/// Time limit for QEMU to answer.
const ANSWERS_WITHIN: Duration = Duration::from_mins(1);

/// Boot files, memory and reconnection of a machine.
pub(super) struct Hardware {
    pub(super) kernel: PathBuf,
    pub(super) root: PathBuf,
    pub(super) memory_mib: u32,
    /// Seconds for which QEMU tries to reconnect to a lost server; 0 for never.
    pub(super) reconnect_seconds: u32,
}

/// A disk of a machine.
#[derive(Clone, Copy)]
pub(super) enum GuestDisk<'a> {
    /// The export `mail` of the NBD server at this socket.
    Nbd(&'a str),
    /// The vhost-user server at this socket.
    VhostUser(&'a str),
    /// A disk of this many bytes; QEMU returns zeros at once.
    Zeros(usize),
}

impl GuestDisk<'_> {
    /// QEMU's arguments for the disk.
    fn arguments(self, hardware: &Hardware) -> Vec<String> {
        let Hardware { memory_mib, reconnect_seconds, .. } = hardware;
        match self {
            Self::Nbd(socket) => vec![
                "-blockdev".to_owned(),
                format!(
                    "nbd,node-name=mail,export=mail,server.type=unix,server.path={socket},\
                     open-timeout=60,reconnect-delay={reconnect_seconds},cache.direct=on,\
                     discard=unmap"
                ),
                "-device".to_owned(),
                "virtio-blk-pci,drive=mail".to_owned(),
            ],
            Self::VhostUser(socket) => vec![
                "-object".to_owned(),
                format!("memory-backend-memfd,id=shared,size={memory_mib}M,share=on"),
                "-machine".to_owned(),
                "memory-backend=shared".to_owned(),
                "-chardev".to_owned(),
                format!("socket,id=guest,path={socket},reconnect=1"),
                "-device".to_owned(),
                "vhost-user-blk-pci,chardev=guest,num-queues=1".to_owned(),
            ],
            Self::Zeros(bytes) => vec![
                "-blockdev".to_owned(),
                format!("null-co,node-name=zeros,size={bytes},read-zeroes=on"),
                "-device".to_owned(),
                "virtio-blk-pci,drive=zeros".to_owned(),
            ],
        }
    }
}

/// A running QEMU; see the module.
pub(super) struct Machine {
    name: String,
    process: Child,
    folder: PathBuf,
    monitor: Option<BufReader<UnixStream>>,
}

impl Machine {
    /// Starts a machine with `disks`, whose sockets are in `folder`; the machine's console and
    /// socket are placed there too. With `incoming` it waits for the state of another machine.
    pub(super) fn start(
        (folder, name): (&Path, &str),
        hardware: &Hardware,
        (disks, job): (&[GuestDisk<'_>], &str),
        incoming: bool,
    ) -> Result<Self, Failure> {
        let mut words: Vec<String> =
            disks.iter().flat_map(|disk| disk.arguments(hardware)).collect();
        if incoming {
            words.extend(["-incoming".to_owned(), format!("unix:{name}.incoming")]);
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        Self::boot((folder, name), hardware, job, &words)
    }

    /// Starts a machine without a disk, which reaches this machine at 10.0.2.2.
    pub(super) fn start_alone(
        (folder, name): (&Path, &str),
        hardware: &Hardware,
        job: &str,
    ) -> Result<Self, Failure> {
        let network = ["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net"];
        Self::boot((folder, name), hardware, job, &network)
    }

    fn boot(
        (folder, name): (&Path, &str),
        hardware: &Hardware,
        job: &str,
        devices: &[&str],
    ) -> Result<Self, Failure> {
        let kernels = fs::read_dir(hardware.kernel.join("boot")).map_err(Failure::of)?;
        let mut kernels = kernels.flatten().map(|entry| entry.path());
        let kernel = kernels.find(|path| path.display().to_string().contains("vmlinuz"));
        let kernel = kernel.ok_or_else(|| Failure::new("the package holds no kernel"))?;
        let mut command = dependent("qemu-system-x86_64");
        command.args(["-M", "q35", "-cpu", "max", "-smp", "1", "-nodefaults", "-no-reboot"]);
        command.args(["-display", "none", "-m", &hardware.memory_mib.to_string()]);
        command.arg("-kernel").arg(kernel).arg("-initrd").arg(&hardware.root);
        command.args(["-append", &format!("console=ttyS0 quiet panic=-1 job={job}")]);
        command.args(["-serial", &format!("file:{name}.console")]).args(devices);
        command.args(["-qmp", &format!("unix:{name}.monitor,server=on,wait=off")]);
        let errors = File::create(folder.join(format!("{name}.err"))).map_err(Failure::of)?;
        command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let process = command.spawn().map_err(Failure::of)?;
        Ok(Self { name: name.to_owned(), process, folder: folder.to_owned(), monitor: None })
    }

    /// The whole output of the guest's console.
    pub(super) fn console(&self) -> String {
        let bytes = fs::read(self.folder.join(format!("{}.console", self.name)));
        String::from_utf8_lossy(&bytes.unwrap_or_default()).replace('\r', "")
    }

    /// The complete lines of the console output.
    pub(super) fn said(&self) -> String {
        let text = self.console();
        text.rfind('\n').map_or(String::new(), |end| text[..=end].to_owned())
    }

    /// Waits until `until` is true of the console's complete lines.
    pub(super) fn wait(
        &mut self,
        what: &str,
        patience: Duration,
        until: impl Fn(&str) -> bool,
    ) -> Result<(), Failure> {
        let limit = Instant::now() + patience;
        while !until(&self.said()) {
            let is_over = self.process.try_wait().map_err(Failure::of)?.is_some();
            if Instant::now() > limit || is_over {
                let errors = fs::read_to_string(self.folder.join(format!("{}.err", self.name)));
                return Err(Failure::new(format!(
                    "guest {}: {what} does not come; QEMU: {}\nthe guest said:\n{}",
                    self.name,
                    errors.unwrap_or_default(),
                    tail(&self.said())
                )));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    /// Kills the machine, as a power failure would.
    pub(super) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Sends QEMU a command over QMP, its control protocol, and returns the answer.
    pub(super) fn order(&mut self, name: &str, arguments: &Value) -> Result<Value, Failure> {
        let failed = |why: String| Failure::new(format!("QEMU's order `{name}`: {why}"));
        if self.monitor.is_none() {
            let mut monitor = self.connect()?;
            ask(&mut monitor, "qmp_capabilities", &json!({})).map_err(failed)?;
            self.monitor = Some(monitor);
        }
        let monitor = self.monitor.as_mut().ok_or_else(|| failed("no connection".to_owned()))?;
        ask(monitor, name, arguments).map_err(failed)
    }

    fn connect(&self) -> Result<BufReader<UnixStream>, Failure> {
        let path = self.folder.join(format!("{}.monitor", self.name));
        let limit = Instant::now() + ANSWERS_WITHIN;
        let stream = loop {
            match UnixStream::connect(&path) {
                Ok(stream) => break stream,
                Err(error) if Instant::now() > limit => return Err(Failure::of(error)),
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        };
        stream.set_read_timeout(Some(ANSWERS_WITHIN)).map_err(Failure::of)?;
        Ok(BufReader::new(stream))
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Sends QEMU a request, and skips events until its answer.
fn ask(
    monitor: &mut BufReader<UnixStream>,
    name: &str,
    arguments: &Value,
) -> Result<Value, String> {
    let order = json!({ "execute": name, "arguments": arguments });
    writeln!(monitor.get_mut(), "{order}").map_err(|error| error.to_string())?;
    loop {
        let mut line = String::new();
        let count = monitor.read_line(&mut line).map_err(|error| error.to_string())?;
        if count == 0 {
            return Err("QEMU has ended".to_owned());
        }
        let mut answer: Value = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        if !answer["error"].is_null() {
            return Err(answer["error"]["desc"].to_string());
        }
        if !answer["return"].is_null() {
            return Ok(answer["return"].take());
        }
    }
}

/// The last lines of a text.
pub(super) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(20)..].join("\n")
}
