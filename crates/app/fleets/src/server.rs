//! A private NATS server for one fleet: configuration, random credentials, start and stop.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use carrier::Carrier;

use super::access::{self, CredentialsFile, random_digits};
use super::flags::FleetUpFlags;
use console::Console;
use console::Outcome;
use console::documents;
use console::error::CommandError;
use console::shell::shell_word;
use console::system;

const READY_WITHIN: Duration = Duration::from_secs(15);
const PASSWORD_BYTES: usize = 24;

/// Subjects that an agent may publish and subscribe to: not the orders of others, nor the lease.
const AGENT_RIGHTS: &str = r#"{
        publish: { allow: ["plimsoll.v1.beat.*", "plimsoll.v1.result.>", "$JS.API.INFO",
                           "$JS.API.STREAM.INFO.PLIMSOLL_RESULTS",
                           "$JS.API.STREAM.CREATE.PLIMSOLL_RESULTS", "plimsoll.v1.done.*",
                           "$JS.API.CONSUMER.INFO.PLIMSOLL_WORK.agents",
                           "$JS.API.CONSUMER.MSG.NEXT.PLIMSOLL_WORK.agents",
                           "$JS.ACK.PLIMSOLL_WORK.agents.>", "_INBOX.>"] }
        subscribe: { allow: ["plimsoll.v1.order.*", "plimsoll.v1.clock.*", "_INBOX.>"] }
      }"#;

/// Starts a server and prints the line that starts an agent.
pub(super) fn up(flags: &FleetUpFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if !flags.listen.ip().is_loopback() && flags.tls_cert.is_none() {
        return Err(CommandError::new(format!(
            "{} can be reached from other machines: give the server a certificate with --tls-cert \
             and --tls-key, or listen on 127.0.0.1",
            flags.listen
        )));
    }
    let program = find("nats-server").ok_or_else(|| {
        CommandError::new(
            "nats-server is not installed: install the package nats-server, or use a server of \
             your own with --server",
        )
    })?;
    let state = &flags.state;
    if running(state).is_some() {
        return Err(CommandError::new(format!(
            "{}: its server is up already; `plimsoll fleet down --state {}` stops it",
            state.display(),
            shell_word(state)
        )));
    }
    documents::make_folder(state)?;
    let state =
        fs::canonicalize(state).map_err(|error| CommandError::file(state, "find", &error))?;
    write_files(flags, &state)?;
    let mut server = start(&program, &state)?;
    // Without its file, which a full disk may prevent, `down` could not find the server.
    if let Err(error) = note(&server, &state).and_then(|()| wait_until_ready(&state)) {
        let _ = server.kill().and_then(|()| server.wait());
        return Err(error);
    }
    let agent = access::agent_file(&state);
    console.answer(format_args!("NATS server: {} (folder {})", url(flags), state.display()))?;
    console.answer("On every host, with its own copy of this file (chmod 600):")?;
    console.answer(format_args!(
        "  plimsoll agent --credentials {} --allow FOLDER...",
        shell_word(&agent)
    ))?;
    Ok(Outcome::Pass)
}

/// Stops the server of the folder `state`.
pub(super) fn down(state: &Path, console: &mut Console) -> Result<Outcome, CommandError> {
    let Some(process) = running(state) else {
        return Err(CommandError::new(format!(
            "{}: no server of this folder is up; there is nothing to stop",
            state.display()
        )));
    };
    system::terminate(process)
        .map_err(|error| CommandError::file(&pid_file(state), "stop the server of", &error))?;
    if !ends_within(state, READY_WITHIN) {
        let _ = system::kill(process);
        if !ends_within(state, READY_WITHIN) {
            return Err(CommandError::new(format!(
                "process {process}, the server of {}, does not end; see whether its disk answers",
                state.display()
            )));
        }
    }
    console.answer(format_args!("Stopped; journals are kept in {}", state.display()))?;
    Ok(Outcome::Pass)
}

/// Whether the folder's server exits within `limit`.
fn ends_within(state: &Path, limit: Duration) -> bool {
    let began = Instant::now();
    while running(state).is_some() {
        if began.elapsed() > limit {
            return false;
        }
        thread::sleep(Duration::from_millis(50));
    }
    true
}

fn pid_file(state: &Path) -> PathBuf {
    state.join("server.pid")
}

/// Process id of the folder's server, if a process with its configuration is running.
fn running(state: &Path) -> Option<u32> {
    let state = fs::canonicalize(state).ok()?;
    let process = fs::read_to_string(pid_file(&state)).ok()?.trim().parse().ok()?;
    let words = system::words_of(process)?;
    words.contains(&*state.join("nats.conf").to_string_lossy()).then_some(process)
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let name = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    folders.map(|folder| folder.join(&name)).find(|path| path.is_file())
}

fn url(flags: &FleetUpFlags) -> String {
    let scheme = if flags.tls_cert.is_some() { "tls" } else { "nats" };
    let host = flags.public_name.clone().unwrap_or_else(|| flags.listen.ip().to_string());
    format!("{scheme}://{host}:{}", flags.listen.port())
}

fn write_files(flags: &FleetUpFlags, state: &Path) -> Result<(), CommandError> {
    let (controller, agent) = (random_digits(PASSWORD_BYTES)?, random_digits(PASSWORD_BYTES)?);
    let authority = flags.tls_ca.as_ref().or(flags.tls_cert.as_ref());
    let authority = authority.map(|path| documents::read_text(path)).transpose()?;
    let authority = authority.as_ref().map(|(_, pem)| pem.as_str());
    let server = &url(flags);
    let users = [
        (access::controller_file(state), "controller", &controller),
        (access::agent_file(state), "agent", &agent),
    ];
    for (path, user, password) in users {
        let _ = fs::remove_file(&path);
        access::write(&path, &CredentialsFile { server, user, password, authority })?;
    }
    let path = state.join("nats.conf");
    let wrong = CommandError::of_file(&path, "write");
    let _ = fs::remove_file(&path);
    let mut file = host::system::create_private(&path).map_err(wrong)?;
    let text = configuration(flags, state, [&controller, &agent]);
    file.write_all(text.as_bytes()).map_err(wrong)
}

fn configuration(flags: &FleetUpFlags, state: &Path, [controller, agent]: [&str; 2]) -> String {
    let tls = match (&flags.tls_cert, &flags.tls_key) {
        (Some(cert), Some(key)) => {
            format!("tls {{ cert_file: {:?}, key_file: {:?} }}\n", text_of(cert), text_of(key))
        }
        _ => String::new(),
    };
    format!(
        "# Written by `plimsoll fleet up`.\n\
         listen: \"{}\"\n\
         server_name: plimsoll\n\
         {tls}\
         jetstream {{ store_dir: {:?} }}\n\
         authorization {{\n  users: [\n    {{ user: controller, password: \"{controller}\" }}\n    \
         {{ user: agent, password: \"{agent}\", permissions: {AGENT_RIGHTS} }}\n  ]\n}}\n",
        flags.listen,
        text_of(&state.join("journals")),
    )
}

fn text_of(path: &Path) -> String {
    let whole = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    whole.to_string_lossy().into_owned()
}

fn start(program: &Path, state: &Path) -> Result<Child, CommandError> {
    let log = state.join("server.log");
    let file = File::create(&log).map_err(|error| CommandError::file(&log, "create", &error))?;
    let again = file.try_clone().map_err(|error| CommandError::file(&log, "open", &error))?;
    let mut command = Command::new(program);
    command.arg("-c").arg(state.join("nats.conf"));
    command.stdin(Stdio::null()).stdout(file).stderr(again);
    host::system::set_apart(&mut command);
    command.spawn().map_err(|error| CommandError::file(program, "start", &error))
}

/// Records the server's process for `down`.
fn note(server: &Child, state: &Path) -> Result<(), CommandError> {
    let pid = pid_file(state);
    fs::write(&pid, server.id().to_string())
        .map_err(|error| CommandError::file(&pid, "write", &error))
}

fn wait_until_ready(state: &Path) -> Result<(), CommandError> {
    let access = access::access(None, Some(&access::controller_file(state)), "fleet up")?;
    let began = Instant::now();
    loop {
        let ready = Carrier::connect(&access).and_then(|carrier| carrier.make_ready());
        match ready {
            Ok(()) => return Ok(()),
            Err(error) if began.elapsed() > READY_WITHIN || running(state).is_none() => {
                let log = state.join("server.log");
                return Err(CommandError::new(format!(
                    "the server did not start: {error}; its own words are in {}",
                    log.display()
                )));
            }
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}
