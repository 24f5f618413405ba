//! Designs compared with the workbook, designs of randomly drawn deployments, and single cases.

#![expect(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod array;
mod decisions;
mod deployments;
mod flat;
mod metacache;
mod oracle;
mod properties;
mod workbook;
