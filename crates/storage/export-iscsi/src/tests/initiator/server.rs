//! A target on loopback with its volume in memory: a thread for each connection.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::scsi::{ScsiWork, WorkError};
use crate::session::{TargetSession, TargetStep};
use crate::{ServedDisk, SharedUnit, TargetOffer};
use device_net::ChapLogin;

pub(crate) const TARGET: &str = "iqn.2026-11.example.plimsoll:volume";
pub(crate) const BYTES: u64 = 96 << 20;
const BLOCK: u64 = 512;

type Storage = Arc<Mutex<Vec<u8>>>;

/// See the module.
pub(crate) struct Server {
    portal: String,
    stop: Arc<AtomicBool>,
}

impl Server {
    pub(crate) fn start(account: Option<ChapLogin>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let portal = listener.local_addr().expect("loopback").to_string();
        let disk = ServedDisk {
            blocks: BYTES / BLOCK,
            block_bytes: 512,
            physical_bytes: 4_096,
            preferred_bytes: 32 << 10,
            identity: 7,
            serial: "0123456789abcdef".to_owned(),
            is_read_only: false,
        };
        let (name, unit) = (TARGET.to_owned(), SharedUnit::default());
        let offers: Arc<[TargetOffer]> = [TargetOffer { name, lun: 0, disk, account, unit }].into();
        let own = portal.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&stop);
        let storage: Storage =
            Arc::new(Mutex::new(vec![0; usize::try_from(BYTES).expect("within memory")]));
        let serve = move || {
            for stream in listener.incoming().take_while(|_| !is_over.load(Ordering::SeqCst)) {
                let (offers, storage) = (Arc::clone(&offers), Arc::clone(&storage));
                let portal = own.clone();
                let connection =
                    move || connection(&mut stream.expect("loopback"), (offers, portal), &storage);
                thread::Builder::new().spawn(connection).expect("a thread");
            }
        };
        thread::Builder::new().spawn(serve).expect("a thread");
        Self { portal, stop }
    }

    pub(crate) fn portal(&self) -> &str {
        &self.portal
    }

    pub(crate) fn address(&self) -> String {
        format!("iscsi://{}/{TARGET}/0", self.portal)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(&self.portal);
    }
}

fn connection(
    stream: &mut TcpStream,
    (offers, portal): (Arc<[TargetOffer]>, String),
    storage: &Storage,
) {
    static COUNT: AtomicU8 = AtomicU8::new(1);
    let mut challenge = [0xa5; 16];
    challenge[..2].fill(COUNT.fetch_add(1, Ordering::SeqCst));
    let mut session = TargetSession::new(offers, portal, challenge);
    let _ = stream.set_nodelay(true);
    while let Ok(length @ 1..) = stream.read(session.room()) {
        let mut steps: VecDeque<_> =
            session.filled(length).into_iter().map(|step| (step, Vec::new())).collect();
        while let Some((step, read)) = steps.pop_front() {
            let (next, read) = match step {
                TargetStep::Send(bytes) => {
                    drop(stream.write_all(&bytes));
                    continue;
                }
                TargetStep::SendRead { head, part } => {
                    let pad = part.len().wrapping_neg() % 4;
                    drop(stream.write_all(&[&head[..], &read[part], &[0; 3][..pad]].concat()));
                    continue;
                }
                TargetStep::Reserve { task, .. } => (session.granted(task), Vec::new()),
                TargetStep::Work { task, .. } if !session.may_begin(task) => {
                    (session.finished(task, Err(WorkError::Aborted)), Vec::new())
                }
                TargetStep::Work { task, work } => match perform(storage, work) {
                    Ok(read) => (session.finished(task, Ok(read.len())), read),
                    Err(error) => (session.finished(task, Err(error)), Vec::new()),
                },
                TargetStep::Close => return,
            };
            for step in next.into_iter().rev() {
                steps.push_front((step, read.clone()));
            }
        }
    }
}

/// Carries `work` out in memory.
pub(crate) fn perform(storage: &Storage, work: ScsiWork) -> Result<Vec<u8>, WorkError> {
    let mut bytes = storage.lock().unwrap_or_else(PoisonError::into_inner);
    let part = |offset: u64, length: u64| {
        let offset = usize::try_from(offset).expect("within memory");
        offset..offset + usize::try_from(length).expect("within memory")
    };
    match work {
        ScsiWork::Read { offset, length } => {
            let range = part(offset, length as u64);
            return Ok(bytes[range].to_vec());
        }
        ScsiWork::Write { offset, data, .. } => {
            let range = part(offset, data.len() as u64);
            bytes[range].copy_from_slice(&data);
        }
        ScsiWork::Flush | ScsiWork::Settle => {}
        ScsiWork::Fill { offset, length, block } => {
            let range = part(offset, length);
            for part in bytes[range].chunks_mut(block.len()) {
                part.copy_from_slice(&block);
            }
        }
        ScsiWork::Unmap(ranges) => {
            for (offset, length) in ranges {
                let range = part(offset, length);
                bytes[range].fill(0);
            }
        }
        ScsiWork::CompareAndWrite { offset, compare, write } => {
            let range = part(offset, compare.len() as u64);
            let present = &mut bytes[range];
            let differs = present.iter().zip(&compare).position(|(one, other)| one != other);
            if let Some(at) = differs {
                return Err(WorkError::Differs(u32::try_from(at).expect("within a block")));
            }
            present.copy_from_slice(&write);
        }
    }
    Ok(Vec::new())
}
