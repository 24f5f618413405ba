//! Calibrates an array on an existing volume: runs loads of known shape and finds the parameters
//! with which the model takes as long.

mod counted;
mod descent;
mod fit;
mod loads;
mod probe;
mod replay;
#[cfg(test)]
mod shipped;
#[cfg(test)]
mod tests;

pub use counted::{REQUESTS_OF_A_STALL, STALL_MEDIANS};
pub use fit::{FitError, FittedArray, FittedLoad, FittedParameter, fit};
pub use loads::{MeasuredLoad, ProbeLoad};
pub use probe::{CalibrationWatch, VolumeProbe, probe};
