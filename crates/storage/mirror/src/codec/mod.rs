//! Encodes messages and operations on flash as bytes, little-endian, without padding. Invalid bytes
//! decode to `None`, never a panic: they come from another host or from flash.

mod fields;
mod flash;
mod frame;
mod message;

pub use flash::FlashRecord;
pub use frame::{FRAME_ALIGNMENT, FrameHead, FramePayload};
