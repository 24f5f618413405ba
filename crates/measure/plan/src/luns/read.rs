//! Parses a LUN document from text: every section, with every default and every contradiction.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use units::Bytes;

use super::model::{
    Allocation, ChapMode, LunAccess, LunContent, LunDocument, LunInitiator, LunPool, LunSource,
    LunWish,
};
use super::names::{iqn_fault, label_fault};
use crate::complaint::Complaint;
use crate::keys::{Choice, Keys};
use crate::reader::{Given, TomlSection};

/// Default port of a target, as registered.
const USUAL_PORT: u16 = 3260;

/// Bounds of a LUN's size, well below the limits of SCSI (2^64 blocks of 512 bytes) and of files (8
/// EiB).
const LUN_BOUNDS: (Bytes, Bytes) = (Bytes(1 << 20), Bytes(1 << 50));

pub(super) fn document(root: TomlSection<'_>, complaints: &mut Vec<Complaint>) -> LunDocument {
    let mut root = Keys::new(root, complaints);
    let source = source(&mut root);
    let pools = pools(&mut root);
    let initiators = initiators(&mut root);
    let luns = luns(&mut root, &pools, &initiators);
    if luns.is_empty() && source.is_none() && root.complaints() == 0 {
        let example = "a section [[lun]] for each LUN, or `deployment = \"deployment.toml\"`";
        root.missing("lun", example);
    }
    let document = LunDocument {
        name: label(&mut root, "name", "mail"),
        target: iqn(&mut root, "target", "`target = \"iqn.2026-01.org.example:mail\"`"),
        portals: portals(&mut root),
        has_copies: root.flag("dag", false),
        authentication: root.choice("authentication").unwrap_or(ChapMode::OneWay),
        allocation_unit: root.size(
            "allocation_unit",
            Bytes::from_kib(64),
            (Bytes(512), Bytes(2 << 20)),
        ),
        smallest_lun: root.size("smallest_lun", Bytes::from_gib(16), LUN_BOUNDS),
        control_port: u16::try_from(root.count("control_port", 0, (0, 32_767))).unwrap_or(0),
        source,
        pools,
        initiators,
        luns,
    };
    root.finish();
    document
}

fn source(root: &mut Keys<'_, '_>) -> Option<LunSource> {
    let deployment: Option<Given<String>> = root.take("deployment");
    let array: Option<Given<String>> = root.take("array");
    if deployment.is_none() && array.is_some() {
        root.conflict("array", "decides about volumes of a deployment; give `deployment` as well");
    }
    let array = array.map(|array| array.value);
    deployment.map(|deployment| LunSource { deployment: deployment.value, array })
}

/// The pools; a single default one if the document has none.
fn pools(root: &mut Keys<'_, '_>) -> Vec<LunPool> {
    let pools = root.each("pool", |mut keys, index| {
        if !keys.has("folder") {
            keys.missing("folder", "`folder = \"/srv/luns\"` to [[pool]]");
        }
        let folder = keys.text("folder", "");
        if !folder.is_empty() && !is_plain_folder(&folder) {
            let message = "takes the whole path of a folder below the root, without `..` and \
                           without commas and other signs that tgtd takes apart, such as \
                           \"/srv/luns\"";
            keys.conflict("folder", message);
        }
        let pool = LunPool {
            name: label(&mut keys, "name", &format!("pool{}", index + 1)),
            folder,
            allocation: keys.choice("allocation").unwrap_or(Allocation::Thin),
            holds: held(&mut keys),
        };
        keys.finish();
        pool
    });
    if pools.is_empty() {
        root.missing("pool", "a section [[pool]] with `folder = \"/srv/luns\"`");
    }
    let names = pools.iter().map(|pool| pool.name.as_str());
    once(root, "pool", names);
    let folders = pools.iter().map(|pool| pool.folder.as_str());
    once(root, "pool", folders);
    pools
}

/// Whether `tgtd` accepts `path` as a single path that denotes only this folder.
fn is_plain_folder(path: &str) -> bool {
    let steps = path.split('/').skip(1);
    path.starts_with('/')
        && !path.contains([',', '=', '\\', '"', '\''])
        && !path.chars().any(char::is_control)
        && steps.clone().count() > 0
        && steps.clone().all(|step| !step.is_empty() && step != "." && step != "..")
}

fn held(keys: &mut Keys<'_, '_>) -> Vec<LunContent> {
    let Some(words) = keys.list::<String>("holds") else {
        return LunContent::ALL.to_vec();
    };
    let mut held = Vec::new();
    for word in &words {
        match LunContent::WORDS.iter().position(|known| *known == word.value) {
            Some(at) => held.push(LunContent::ALL[at]),
            None => keys.not_a_choice(word, LunContent::WORDS),
        }
    }
    held
}

fn initiators(root: &mut Keys<'_, '_>) -> Vec<LunInitiator> {
    let initiators = root.each("initiator", |mut keys, index| {
        let example = "`iqn = \"iqn.1991-05.com.microsoft:ex01.example.org\"` to [[initiator]]";
        let initiator = LunInitiator {
            name: label(&mut keys, "name", &format!("initiator{}", index + 1)),
            iqn: iqn(&mut keys, "iqn", example),
            addresses: parsed(&mut keys, "addresses", "such as \"10.0.0.21\" or \"fd00::21\""),
            access: keys.choice("access").unwrap_or(LunAccess::ReadWrite),
        };
        keys.finish();
        initiator
    });
    if initiators.is_empty() {
        root.missing("initiator", "a section [[initiator]] for each server");
    }
    once(root, "initiator", initiators.iter().map(|initiator| initiator.name.as_str()));
    once(root, "initiator", initiators.iter().map(|initiator| initiator.iqn.as_str()));
    initiators
}

fn luns(root: &mut Keys<'_, '_>, pools: &[LunPool], initiators: &[LunInitiator]) -> Vec<LunWish> {
    let luns = root.each("lun", |mut keys, index| {
        if !keys.has("size") {
            keys.missing("size", "`size = \"1.2TiB\"` to [[lun]]");
        }
        let holds = keys.choice("holds").unwrap_or(LunContent::Databases);
        let lun = LunWish {
            name: label(&mut keys, "name", &format!("lun{}", index + 1)),
            size: keys.size("size", LUN_BOUNDS.0, LUN_BOUNDS),
            holds,
            content: keys.given("content", (Bytes(1), LUN_BOUNDS.1)),
            pool: pool_of(&mut keys, holds, pools),
            access: access(&mut keys, initiators),
        };
        keys.finish();
        lun
    });
    once(root, "lun", luns.iter().map(|lun| lun.name.as_str()));
    luns
}

/// The pool that a LUN names, or the first that holds such LUNs.
fn pool_of(keys: &mut Keys<'_, '_>, holds: LunContent, pools: &[LunPool]) -> String {
    let Some(given) = keys.take::<String>("pool") else {
        let usual = pools.iter().find(|pool| pool.holds.contains(&holds));
        if usual.is_none() && !pools.is_empty() {
            let message = format!("lies nowhere: no [[pool]] holds {}; give `pool`", holds.name());
            keys.conflict("pool", message);
        }
        return usual.map(|pool| pool.name.clone()).unwrap_or_default();
    };
    if !pools.iter().any(|pool| pool.name == given.value) {
        keys.conflict("pool", "is the name of no [[pool]]; give one of theirs");
    }
    given.value
}

/// Writers and readers of a LUN, if it names them.
fn access(
    keys: &mut Keys<'_, '_>,
    initiators: &[LunInitiator],
) -> Option<(Vec<String>, Vec<String>)> {
    let [writers, readers] = ["read_write", "read"].map(|key| {
        let names: Vec<String> =
            keys.list::<String>(key)?.into_iter().map(|name| name.value).collect();
        let unknown =
            names.iter().find(|name| !initiators.iter().any(|one| one.name == **name)).cloned();
        if let Some(unknown) = unknown {
            let message = format!("`{unknown}` is the name of no [[initiator]]; give theirs");
            keys.conflict(key, message);
        }
        Some(names)
    });
    let (Some(writers), Some(readers)) = (&writers, &readers) else {
        let is_said = writers.is_some() || readers.is_some();
        return is_said.then(|| (writers.unwrap_or_default(), readers.unwrap_or_default()));
    };
    if let Some(both) = writers.iter().find(|name| readers.contains(name)) {
        keys.conflict("read", format!("`{both}` stands in `read_write` too; give it in one"));
    }
    Some((writers.clone(), readers.clone()))
}

fn portals(root: &mut Keys<'_, '_>) -> Vec<SocketAddr> {
    if !root.has("portals") {
        root.missing("portals", "`portals = [\"10.0.0.10:3260\"]`, the addresses of this target");
        return Vec::new();
    }
    let Some(texts) = root.list::<String>("portals") else {
        return Vec::new();
    };
    let mut portals = Vec::new();
    for text in texts.iter().map(|text| text.value.as_str()) {
        let address =
            text.trim_matches(['[', ']']).parse().map(|host: IpAddr| (host, USUAL_PORT).into());
        match text.parse().or(address) {
            Ok(portal) => portals.push(portal),
            Err(_) => root.conflict(
                "portals",
                format!(
                    "`{text}` is no address; give it as \"10.0.0.10:3260\" or \"[fd00::1]:3260\""
                ),
            ),
        }
    }
    if portals.is_empty() {
        root.conflict("portals", "is empty; give at least one, such as \"10.0.0.10:3260\"");
    }
    portals
}

/// The items of a list, parsed.
fn parsed<T: FromStr>(keys: &mut Keys<'_, '_>, key: &'static str, example: &str) -> Vec<T> {
    let mut items = Vec::new();
    for text in keys.list::<String>(key).unwrap_or_default() {
        match text.value.parse() {
            Ok(item) => items.push(item),
            Err(_) => {
                keys.conflict(key, format!("`{}` is no address; give one {example}", text.value));
            }
        }
    }
    items
}

fn label(keys: &mut Keys<'_, '_>, key: &'static str, default: &str) -> String {
    let name = keys.text(key, default);
    if let Some(fault) = label_fault(&name) {
        keys.conflict(key, format!("`{name}` {fault}"));
    }
    name
}

fn iqn(keys: &mut Keys<'_, '_>, key: &'static str, example: &str) -> String {
    if !keys.has(key) {
        keys.missing(key, example);
        return String::new();
    }
    let name = keys.text(key, "");
    if let Some(fault) = iqn_fault(&name) {
        keys.conflict(key, format!("`{name}` {fault}"));
    }
    name
}

/// Complains about duplicate names. Case is ignored: targets are lower case.
fn once<'n>(root: &mut Keys<'_, '_>, key: &str, names: impl Iterator<Item = &'n str>) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.filter(|name| !name.is_empty()) {
        *count.entry(name.to_lowercase()).or_default() += 1;
    }
    if let Some((name, _)) = count.iter().find(|(_, count)| **count > 1) {
        root.conflict(key, format!("`{name}` is there twice; give each section its own"));
    }
}
