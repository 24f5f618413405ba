//! Designs against the workbook, against drawn deployments, and by name.

mod array;
mod decisions;
mod deployments;
mod flat;
mod metacache;
mod oracle;
mod properties;
mod workbook;
