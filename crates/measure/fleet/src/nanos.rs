//! Spans as whole nanoseconds in messages and journals.

use serde::{Deserialize, Deserializer, Serializer};
use units::Nanos;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
pub(crate) fn serialize<S: Serializer>(span: &Nanos, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u64(span.0)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Nanos, D::Error> {
    u64::deserialize(from).map(Nanos)
}
