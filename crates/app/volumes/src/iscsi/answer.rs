//! Answers of `iscsi` for programs.

use luns::{LunDesign, LunFinding, MappedLun};
use serde_json::{Value, json};

/// The desired state.
pub(super) fn design(design: &LunDesign) -> Value {
    let luns = design.luns.iter().map(|lun| {
        json!({
            "name": lun.name,
            "number": lun.number,
            "size_bytes": lun.size.0,
            "holds": lun.holds.name(),
            "content_bytes": lun.content.map(|content| content.0),
            "pool": lun.pool,
            "file": lun.file,
        })
    });
    let targets = design.targets.iter().map(|target| {
        json!({
            "name": target.iqn,
            "initiator": target.initiator,
            "initiator_name": target.initiator_iqn,
            "addresses": target.addresses,
            "luns": target.luns.iter().map(mapped).collect::<Vec<_>>(),
        })
    });
    json!({
        "portals": design.portals,
        "luns": luns.collect::<Vec<_>>(),
        "targets": targets.collect::<Vec<_>>(),
    })
}

fn mapped(lun: &MappedLun) -> Value {
    json!({ "name": lun.name, "number": lun.number, "read_only": lun.is_read_only })
}

/// A problem of the design, as JSON.
pub(super) fn finding(finding: &LunFinding) -> Value {
    json!({
        "severity": finding.severity.name(),
        "subject": finding.subject,
        "text": finding.text,
        "remedy": finding.remedy,
    })
}
