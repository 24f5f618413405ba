//! Reads frames from pcap and pcapng captures.

use std::fmt;
use std::io::Read;

use pcap_parser::pcapng::{Block, EnhancedPacketBlock, InterfaceDescriptionBlock};
use pcap_parser::traits::{PcapNGPacketBlock as _, PcapReaderIterator};
use pcap_parser::{PcapBlockOwned, PcapError, create_reader};

use crate::frame::{Frame, is_known};
use crate::unread::Unread;
use crate::watch::Watch;

/// Initial size of the buffer, which grows to the largest block.
const BUFFER_BYTES: usize = 1 << 16;
/// Maximum size of the buffer; no frame is larger.
const LARGEST_BUFFER_BYTES: usize = 1 << 26;
/// Packet block of pcapng's first drafts; obsolete.
const OLD_PACKET: u32 = 2;
const SECOND: u64 = 1_000_000_000;

/// Why a capture cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureError {
    /// The source is neither pcap nor pcapng.
    NoCapture,
    /// The capture is damaged after this many frames.
    Damaged {
        /// Number of frames read before the damage.
        frames: u64,
    },
    /// All frames of the capture have unsupported link types.
    UnknownLink {
        /// The number of one such type.
        link: i32,
    },
}

impl fmt::Display for CaptureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCapture => f.write_str(
                "is no capture; name a pcap or pcapng file, as tcpdump, Wireshark and pktmon \
                 (etl2pcap) write them",
            ),
            Self::Damaged { frames } => write!(
                f,
                "is damaged after {frames} frames, so what follows is unknown; capture again"
            ),
            Self::UnknownLink { link } => {
                write!(f, "holds only frames of link type {link}; capture on an Ethernet interface")
            }
        }
    }
}

impl std::error::Error for CaptureError {}

/// Summary of a capture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaptureSummary {
    /// Frames read.
    pub frames: u64,
    /// Frames with unsupported link types.
    pub unknown_link: u64,
    /// Whether the last frame is truncated, as when the capturing program was killed.
    pub is_cut_off: bool,
}

/// An interface of the capture.
struct Interface {
    link: i32,
    /// Ticks in a second.
    resolution: u64,
    offset_seconds: i64,
}

#[derive(Default)]
struct CaptureReader {
    interfaces: Vec<Interface>,
    summary: CaptureSummary,
    last_unknown: i32,
}

/// Passes every frame of `source` to `watch`.
pub fn read_capture(
    source: impl Read + Send,
    watch: &mut Watch,
) -> Result<CaptureSummary, CaptureError> {
    let mut blocks = create_reader(BUFFER_BYTES, source).map_err(|_| CaptureError::NoCapture)?;
    let mut reader = CaptureReader::default();
    loop {
        match blocks.next() {
            Ok((bytes, block)) => {
                reader.block(&block, watch);
                blocks.consume(bytes);
                continue;
            }
            Err(PcapError::Eof) => break,
            Err(PcapError::Incomplete(_) | PcapError::BufferTooSmall) => {}
            Err(PcapError::UnexpectedEof) => {
                reader.summary.is_cut_off = true;
                break;
            }
            Err(_) => {
                let frames = reader.summary.frames;
                return Err(CaptureError::Damaged { frames });
            }
        }
        if !more(blocks.as_mut()) {
            reader.summary.is_cut_off = !blocks.data().is_empty();
            break;
        }
    }
    let summary = reader.summary;
    if summary.is_cut_off {
        watch.miss(Unread::CutCapture, 1);
    }
    if summary.frames > 0 && summary.frames == summary.unknown_link {
        return Err(CaptureError::UnknownLink { link: reader.last_unknown });
    }
    Ok(summary)
}

/// Reads more data into the buffer, or enlarges a full one; returns `false` if neither is possible.
fn more(blocks: &mut dyn PcapReaderIterator) -> bool {
    let before = blocks.data().len();
    let is_refilled = blocks.refill().is_ok() && blocks.data().len() > before;
    is_refilled
        || !blocks.reader_exhausted()
            && before * 2 <= LARGEST_BUFFER_BYTES
            && blocks.grow((before * 2).max(BUFFER_BYTES * 2))
}

impl CaptureReader {
    fn block(&mut self, block: &PcapBlockOwned<'_>, watch: &mut Watch) {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                let is_fine = header.is_nanosecond_precision();
                self.interfaces = vec![Interface {
                    link: header.network.0,
                    resolution: if is_fine { SECOND } else { 1_000_000 },
                    offset_seconds: 0,
                }];
            }
            PcapBlockOwned::Legacy(packet) => {
                let length = usize::try_from(packet.caplen).unwrap_or(usize::MAX);
                let ticks = u64::from(packet.ts_usec);
                let bytes = packet.data.get(..length).unwrap_or(packet.data);
                self.frame(0, u64::from(packet.ts_sec), ticks, bytes, watch);
            }
            PcapBlockOwned::NG(Block::SectionHeader(_)) => self.interfaces.clear(),
            PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
                self.interfaces.push(interface(description));
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => self.enhanced(packet, watch),
            PcapBlockOwned::NG(Block::SimplePacket(_)) => watch.miss(Unread::Undated, 1),
            PcapBlockOwned::NG(Block::Unknown(other)) if other.block_type == OLD_PACKET => {
                watch.miss(Unread::Undated, 1);
            }
            PcapBlockOwned::NG(_) => {}
        }
    }

    fn enhanced(&mut self, packet: &EnhancedPacketBlock<'_>, watch: &mut Watch) {
        let number = usize::try_from(packet.if_id).unwrap_or(usize::MAX);
        let Some(interface) = self.interfaces.get(number) else {
            watch.miss(Unread::Undated, 1);
            return;
        };
        let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
        let seconds =
            (ticks / interface.resolution).saturating_add_signed(interface.offset_seconds);
        let rest = ticks % interface.resolution;
        self.frame(packet.if_id, seconds, rest, packet.packet_data(), watch);
    }

    fn frame(&mut self, number: u32, seconds: u64, ticks: u64, bytes: &[u8], watch: &mut Watch) {
        let Some(interface) = usize::try_from(number).ok().and_then(|at| self.interfaces.get(at))
        else {
            return;
        };
        self.summary.frames += 1;
        if !is_known(interface.link) {
            self.summary.unknown_link += 1;
            self.last_unknown = interface.link;
            watch.miss(Unread::LinkLayer { link: interface.link }, 1);
            return;
        }
        let rest = u128::from(ticks) * u128::from(SECOND) / u128::from(interface.resolution);
        let rest = u64::try_from(rest).unwrap_or(SECOND);
        watch.see(&Frame {
            nanoseconds: seconds.saturating_mul(SECOND).saturating_add(rest),
            interface: number,
            link: interface.link,
            bytes,
        });
    }
}

fn interface(description: &InterfaceDescriptionBlock<'_>) -> Interface {
    Interface {
        link: description.linktype.0,
        resolution: resolution(description.if_tsresol),
        offset_seconds: description.ts_offset(),
    }
}

/// Ticks per second, from the option of an interface: a power of two if the highest bit is set,
/// otherwise of ten. `pcap-parser` treats every power of two as unknown.
fn resolution(option: u8) -> u64 {
    let exponent = u32::from(option & 0x7F);
    let ticks = match option >> 7 {
        0 => 10_u64.checked_pow(exponent),
        _ => 1_u64.checked_shl(exponent),
    };
    // No clock is finer, and what such a number means is unknown.
    ticks.unwrap_or(1_000_000)
}
