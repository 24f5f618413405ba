//! Quantities with bounds, checked and written alike in every document.

use units::{Bytes, Nanos};

use crate::complaint::{Complaint, Problem};
use crate::quantity::{write_duration, write_size};
use crate::reader::Given;

/// A quantity with bounds; `write` formats it for complaints.
pub(crate) trait Quantity: Copy + PartialOrd {
    fn write(self) -> String;
}

impl Quantity for Bytes {
    fn write(self) -> String {
        write_size(self)
    }
}

impl Quantity for Nanos {
    fn write(self) -> String {
        write_duration(self)
    }
}

impl Quantity for i128 {
    fn write(self) -> String {
        self.to_string()
    }
}

impl Quantity for f64 {
    fn write(self) -> String {
        self.to_string()
    }
}

/// Returns the given value if it is within `bounds` (inclusive), else the default.
pub(crate) fn within<T: Quantity>(
    complaints: &mut Vec<Complaint>,
    given: Option<&Given<T>>,
    default: T,
    bounds: (T, T),
) -> T {
    let Some(given) = given else { return default };
    if given.value >= bounds.0 && given.value <= bounds.1 {
        return given.value;
    }
    complaints.push(given.place.complaint(Problem::OutOfRange {
        found: given.value.write(),
        least: bounds.0.write(),
        most: bounds.1.write(),
    }));
    default
}
