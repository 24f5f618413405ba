//! The state of a mirrored volume, for `cache status`.

use std::fmt::Write as _;
use std::rc::Rc;

use device_os::boot_clock;
use serde_json::{Value, json};
use units::Nanos;

use super::driver::MirrorDriver;
use crate::cache::mirror::{self as shared, VolumeValue};

/// Silence after which a peer counts as away.
const AWAY: Nanos = Nanos::from_secs(3);

/// Returns the state as JSON; `clients` is the number of connected clients.
pub(super) fn status(driver: &Rc<MirrorDriver>, clients: usize) -> Value {
    let document = &driver.document;
    let state = driver.status();
    let block = document.block.0;
    let heard = driver.peer_heard.get().map(|at| boot_clock().since(at));
    let config = driver.config.get();
    let named = config.map(|config| VolumeValue {
        hosts: document.hosts.clone(),
        identity: String::new(),
        config,
    });
    let answer = json!({
        "state": if state.flash_failed { "failed" } else { "works" },
        "volume": document.volume,
        "bytes": document.size.0,
        "host": document.hosts[document.host],
        "peer": document.hosts[1 - document.host],
        "peer_is_heard": heard.is_some_and(|silence| silence < AWAY),
        "role": match (state.is_serving, state.owns) {
            (true, _) => "owner",
            (false, Some(_)) => "taking over",
            (false, None) => "standby",
        },
        "owner": named.as_ref().map(|value| shared::owner(value).to_owned()),
        "epoch": config.map(|config| config.epoch),
        "data_on": named.as_ref().map(|value| {
            value.place(value.config.authority).trim_start_matches('=')
        }),
        "writes_back": state.writes_back,
        "dirty_bytes": state.dirty * block,
        "resync": state.resync.map(|copy| json!({ "done": copy.done, "total": copy.total })),
        "reads": driver.reads.get(),
        "read_hits": driver.read_hits.get(),
        "stored_bytes": driver.stored_blocks() * block,
        "flash_file_bytes": driver.flash_bytes.get(),
        "flash_written_bytes": driver.written.get(),
        "clients": clients,
    });
    report::answer("cache_mirror", answer)
}

/// Formats the state as Prometheus metrics.
pub(super) fn metrics(status: &Value) -> String {
    let mut text = String::new();
    let volume = status["volume"].as_str().unwrap_or_default();
    let is_owner = status["role"] == "owner";
    for (name, value) in [
        ("owner", json!(u8::from(is_owner))),
        ("epoch", status["epoch"].clone()),
        ("dirty_bytes", status["dirty_bytes"].clone()),
        ("reads_total", status["reads"].clone()),
        ("read_hits_total", status["read_hits"].clone()),
        ("stored_bytes", status["stored_bytes"].clone()),
        ("flash_written_bytes", status["flash_written_bytes"].clone()),
        ("clients", status["clients"].clone()),
    ] {
        if !value.is_null() {
            let _ = writeln!(text, "plimsoll_mirror_{name}{{volume=\"{volume}\"}} {value}");
        }
    }
    text
}
