//! Messages and operations on flash as bytes, little-endian, without padding. Bytes that are not
//! what they claim to be are `None`, never a panic: they come from another host or from flash.

mod fields;
mod flash;
mod frame;
mod message;

pub use flash::FlashRecord;
pub use frame::{FRAME_ALIGNMENT, FrameHead, FramePayload};
