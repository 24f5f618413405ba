//! Newtypes for the quantities of mailbox storage, the formatting of counts, escaping of outside
//! text, and the one small random generator.
//!
//! A page number is not an offset and a generation is not a count: every quantity that could be
//! mistaken for another has a type here, with only the arithmetic that makes sense.

mod hexadecimal;
mod nanos;
mod plain;
mod prng;
mod quantity;
mod thousands;

pub use hexadecimal::hexadecimal;
pub use nanos::Nanos;
pub use plain::{plain, plain_json, shortened};
pub use prng::{Prng, Seed};
pub use quantity::{Bytes, Generation, ObjectId, PageNumber};
pub use thousands::{
    counted, decimal, limit_beside, plural, thousands, three_digits, three_digits_beside,
};
