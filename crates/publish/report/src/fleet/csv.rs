//! Every interval of every host as comma-separated values.

use std::fmt::Write as _;

use super::FleetSheet;
use crate::intervals;

/// The table of each host, with the name of the host as the first column.
pub fn fleet_csv(sheet: &FleetSheet<'_>) -> String {
    let mut all = String::new();
    for host in &sheet.hosts {
        let Some(record) = host.record else { continue };
        let table = intervals::csv(record);
        let mut lines = table.lines();
        let Some(head) = lines.next() else { continue };
        if all.is_empty() {
            all = format!("host,{head}\n");
        }
        let name = quoted(host.name);
        for line in lines {
            let _ = writeln!(all, "{name},{line}");
        }
    }
    all
}

/// A name as one field.
pub(super) fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}
