//! A logical unit after login, identified before anything is read or written.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use device::{Buffer, DeviceError, SECTOR};

use super::address::IscsiAddress;
use super::agreed::Authentication;
use super::command::{Command, CommandFailure, CommandOutcome, DataDirection};
use super::connection::{IscsiConnection, Wire};
use super::error::IscsiError;
use super::login::IscsiInitiator;
use super::scsi::{self, CommandBlock, LunCaching, LunCapacity, LunIdentity};
use super::sense::{ScsiRefusal, SenseReaction};
use super::session;

/// Maximum wait for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Maximum number of attempts on a unit that reports attention or busy.
const MOST_ATTEMPTS: usize = 100;

/// SCSI peripheral device type of a disk.
const DISK: u8 = 0;

/// A logical unit's answer to a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAnswer {
    /// The write was accepted.
    Taken,
    /// The unit is write protected.
    Protected,
}

/// See the module. Dropping it ends the session.
pub struct Lun {
    name: String,
    encoded: [u8; 8],
    connection: IscsiConnection,
    begin: Option<IpAddr>,
    authentication: Authentication,
    identity: LunIdentity,
    capacity: LunCapacity,
    caching: LunCaching,
}

impl Lun {
    /// Logs in and identifies the logical unit, called `name` in errors. Nothing is written.
    pub fn attach(
        address: &IscsiAddress,
        name: &str,
        initiator: &IscsiInitiator,
    ) -> Result<Self, IscsiError> {
        let mut lun = Self::log_in(address, name, initiator)?;
        lun.identity = lun.ask_identity()?;
        lun.test()?;
        lun.capacity = lun.ask_capacity()?;
        lun.caching = lun.ask_caching()?;
        Ok(lun)
    }

    /// Logs in to the target of `address` and lists the numbers of its logical units of any type.
    /// Errors call the target `name`.
    pub fn numbers(
        address: &IscsiAddress,
        name: &str,
        initiator: &IscsiInitiator,
    ) -> Result<Vec<u64>, IscsiError> {
        Self::log_in(address, name, initiator)?.ask_numbers()
    }

    fn log_in(
        address: &IscsiAddress,
        name: &str,
        initiator: &IscsiInitiator,
    ) -> Result<Self, IscsiError> {
        let (stream, login) =
            session::open(&address.portal, Some(&address.target), name, initiator)?;
        let begin = stream.begin();
        let connection = IscsiConnection::start(stream, login, name)
            .map_err(|error| IscsiError::Connection { name: name.to_owned(), error })?;
        Ok(Self {
            name: name.to_owned(),
            encoded: address.encoded_lun(),
            connection,
            begin,
            authentication: login.authentication,
            identity: LunIdentity::default(),
            capacity: LunCapacity::default(),
            caching: LunCaching::default(),
        })
    }

    /// The local address of the connection.
    pub const fn begin(&self) -> Option<IpAddr> {
        self.begin
    }

    /// The sides that authenticated themselves at login.
    pub const fn authentication(&self) -> Authentication {
        self.authentication
    }

    /// Its identity, as reported.
    pub const fn identity(&self) -> &LunIdentity {
        &self.identity
    }

    /// Its capacity, as reported.
    pub const fn capacity(&self) -> LunCapacity {
        self.capacity
    }

    /// Its cache settings, as reported.
    pub const fn caching(&self) -> LunCaching {
        self.caching
    }

    /// Asks whether it is ready: the shortest possible round trip.
    pub fn test(&self) -> Result<(), IscsiError> {
        self.ask("TEST UNIT READY", scsi::test_unit_ready(), 0).map(drop)
    }

    /// Writes zero blocks, which changes nothing, to find out whether writes are accepted.
    pub fn try_empty_write(&self) -> Result<WriteAnswer, IscsiError> {
        match self.ask("WRITE(16) of no blocks", scsi::transfer(true, false, 0, 0), 0) {
            Ok(_) => Ok(WriteAnswer::Taken),
            Err(IscsiError::Command { refusal, .. }) if refusal.is_protected() => {
                Ok(WriteAnswer::Protected)
            }
            Err(error) => Err(error),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn encoded(&self) -> [u8; 8] {
        self.encoded
    }

    pub(crate) fn wire(&self) -> &Arc<Wire> {
        &self.connection.wire
    }

    /// Makes the logical unit flush its cache; returns whether it supports this.
    pub(crate) fn flushes(&self) -> Result<bool, IscsiError> {
        match self.ask("SYNCHRONIZE CACHE", scsi::synchronize_cache(), 0) {
            Ok(_) => Ok(true),
            Err(IscsiError::Command { refusal, .. }) if refusal.is_unknown() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn ask_identity(&self) -> Result<LunIdentity, IscsiError> {
        let answer = match self.ask("INQUIRY", scsi::inquiry(None), scsi::ANSWER_BYTES) {
            Err(IscsiError::Command { refusal, .. }) if refusal.is_no_lun() => Vec::new(),
            answer => answer?,
        };
        let Some(mut identity) = scsi::identity(&answer) else {
            let there = self.ask_numbers().unwrap_or_default();
            return Err(IscsiError::NoLun { name: self.name.clone(), there });
        };
        if identity.kind != DISK {
            let (name, kind) = (self.name.clone(), identity.kind);
            return Err(IscsiError::NotADisk { name, kind });
        }
        let page = |number| self.ask("INQUIRY", scsi::inquiry(Some(number)), scsi::ANSWER_BYTES);
        // Some pages are missing on some targets.
        identity.serial = page(0x80).ok().and_then(|page| scsi::serial(&page));
        identity.most_blocks = page(0xb0).map_or(0, |page| scsi::most_blocks(&page));
        Ok(identity)
    }

    /// Logical units that the target shows.
    fn ask_numbers(&self) -> Result<Vec<u64>, IscsiError> {
        let block = scsi::report_luns();
        Ok(scsi::luns(&self.ask_at([0; 8], "REPORT LUNS", block, scsi::REPORT_BYTES)?))
    }

    fn ask_capacity(&self) -> Result<LunCapacity, IscsiError> {
        let answer = self.ask("READ CAPACITY(16)", scsi::read_capacity_16(), 32)?;
        scsi::capacity(&answer).ok_or_else(|| IscsiError::NotIscsi {
            name: self.name.clone(),
            why: "it tells no capacity that could be".to_owned(),
        })
    }

    /// Asks for the caching page. Targets need not support either form of the command.
    fn ask_caching(&self) -> Result<LunCaching, IscsiError> {
        let forms = [(scsi::mode_sense_6(), 4), (scsi::mode_sense_10(), 8)];
        for (block, head_bytes) in forms {
            match self.ask("MODE SENSE", block, scsi::ANSWER_BYTES) {
                Ok(answer) => return Ok(scsi::caching(&answer, head_bytes).unwrap_or_default()),
                Err(IscsiError::Command { refusal, .. }) if refusal.is_unknown() => {}
                Err(error) => return Err(error),
            }
        }
        Ok(LunCaching::default())
    }

    /// Sends a command and waits for its answer, which may have up to `room` bytes.
    fn ask(
        &self,
        command: &'static str,
        block: CommandBlock,
        room: u32,
    ) -> Result<Vec<u8>, IscsiError> {
        self.ask_at(self.encoded, command, block, room)
    }

    fn ask_at(
        &self,
        lun: [u8; 8],
        command: &'static str,
        block: CommandBlock,
        room: u32,
    ) -> Result<Vec<u8>, IscsiError> {
        let mut refusal = None;
        for _ in 0..MOST_ATTEMPTS {
            match self.ask_of(lun, block, room)? {
                Ok(answer) => return Ok(answer),
                Err(refused)
                    if refused.is_attention() || refused.reaction() == SenseReaction::Later =>
                {
                    refusal = Some(refused);
                }
                Err(refusal) => return Err(self.refused(command, refusal)),
            }
        }
        let refusal = refusal.expect("invariant: it was asked, and refused each time");
        Err(self.refused(command, refusal))
    }

    fn refused(&self, command: &'static str, refusal: ScsiRefusal) -> IscsiError {
        IscsiError::Command { name: self.name.clone(), command, refusal }
    }

    fn ask_of(
        &self,
        lun: [u8; 8],
        block: CommandBlock,
        room: u32,
    ) -> Result<Result<Vec<u8>, ScsiRefusal>, IscsiError> {
        let (end, ended) = mpsc::channel();
        let direction = if room > 0 { DataDirection::In } else { DataDirection::None };
        self.wire().send(Command {
            lun,
            block,
            direction,
            buffer: Some(Buffer::zeroed((room as usize).next_multiple_of(SECTOR))),
            range: 0..room as usize,
            end: Box::new(move |outcome| drop(end.send(outcome))),
        });
        let outcome = ended.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => self.broken(io::ErrorKind::TimedOut.into()),
            RecvTimeoutError::Disconnected => self.broken(io::ErrorKind::BrokenPipe.into()),
        })?;
        let CommandOutcome { buffer, moved, result } = outcome;
        match result {
            Ok(()) => {
                let mut answer = buffer.map_or_else(Vec::new, |bytes| bytes.to_vec());
                answer.truncate(moved);
                Ok(Ok(answer))
            }
            Err(CommandFailure::Refused(refusal)) => Ok(Err(refusal)),
            Err(CommandFailure::Lost(DeviceError::Disconnected { why, .. })) => {
                Err(self.broken(io::Error::other(why)))
            }
            Err(CommandFailure::Lost(error)) => Err(self.broken(io::Error::other(error))),
        }
    }

    fn broken(&self, error: io::Error) -> IscsiError {
        IscsiError::Connection { name: self.name.clone(), error }
    }
}
