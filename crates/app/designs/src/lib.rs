//! The verbs that work without storage: size a deployment, plan a test, simulate and predict it.

pub mod calibrate;
pub mod import;
pub mod plan;
pub(crate) mod predict;
pub mod profile;
pub mod simulate;
pub mod size;
