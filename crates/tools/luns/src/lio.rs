//! The target of the Linux kernel (LIO), as the configuration that `targetcli restoreconfig` reads.

use plan::luns::ChapMode;
use serde_json::{Value, json};

use crate::design::{DesignedLun, LunDesign, Target};
use crate::secret::SecretFile;
use crate::state::LunState;

/// The configuration. It contains the secrets, so only its owner may read its file. LIO admits
/// initiators by name; addresses are ignored.
pub fn saved_configuration(design: &LunDesign, secrets: &SecretFile, state: &LunState) -> Value {
    let objects = design.luns.iter().map(|lun| object(lun, state));
    let targets = design.targets.iter().map(|one| target(design, one, secrets));
    json!({
        "fabric_modules": [],
        "storage_objects": objects.collect::<Vec<_>>(),
        "targets": targets.collect::<Vec<_>>(),
    })
}

fn object(lun: &DesignedLun, state: &LunState) -> Value {
    json!({
        "plugin": "fileio",
        "name": lun.name,
        "dev": lun.file,
        "size": lun.size.0,
        "write_back": true,
        "wwn": uuid(&state.serial(&lun.name)),
        "attributes": { "block_size": 512, "emulate_tpu": 1, "emulate_write_cache": 1 },
    })
}

/// Expands 16 hexadecimal digits to the 32 of an identity in LIO.
fn uuid(serial: &str) -> String {
    let digits = format!("{serial}{serial}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| digits.get(part).unwrap_or_default()).join("-")
}

fn target(design: &LunDesign, target: &Target, secrets: &SecretFile) -> Value {
    let offered = target.luns.iter().enumerate().map(|(index, lun)| {
        json!({ "index": index, "storage_object": format!("/backstores/fileio/{}", lun.name) })
    });
    let portals = design.portals.iter().map(|portal| {
        let address = portal.ip().to_string();
        json!({ "ip_address": address, "port": portal.port(), "iser": false })
    });
    json!({
        "fabric": "iscsi",
        "wwn": target.iqn,
        "tpgs": [{
            "tag": 1,
            "enable": true,
            "attributes": {
                "authentication": u8::from(design.authentication != ChapMode::None),
                "generate_node_acls": 0,
                "demo_mode_write_protect": 1,
            },
            "luns": offered.collect::<Vec<_>>(),
            "node_acls": [node(design, target, secrets)],
            "portals": portals.collect::<Vec<_>>(),
        }],
    })
}

/// The LUNs that the initiator may access, and the secrets.
fn node(design: &LunDesign, target: &Target, secrets: &SecretFile) -> Value {
    let mapped = target.luns.iter().enumerate().map(|(index, lun)| {
        json!({ "index": lun.number, "tpg_lun": index, "write_protect": lun.is_read_only })
    });
    let mut node = json!({
        "node_wwn": target.initiator_iqn,
        "attributes": {},
        "mapped_luns": mapped.collect::<Vec<_>>(),
    });
    let known = secrets.of(&target.initiator);
    let known = known.filter(|_| design.authentication != ChapMode::None);
    if let Some(secrets) = known {
        node["chap_userid"] = json!(target.account);
        node["chap_password"] = json!(secrets.secret);
        if design.authentication == ChapMode::Mutual {
            node["chap_mutual_userid"] = json!(target.own_account);
            node["chap_mutual_password"] = json!(secrets.target_secret);
        }
    }
    node
}
