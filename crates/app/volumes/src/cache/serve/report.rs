//! The server's report about itself: one JSON value, and the same as metrics.

use std::fmt::Write as _;

use export::{DeviceTally, RequestSeries};
use flashcache::{CacheHealth, ClassCounters, RequestClass};
use serde_json::{Value, json};

use super::backing::BehindCache;
use super::state::Daemon;

/// The state of the server.
pub(super) fn status(daemon: &Daemon) -> Value {
    let store = daemon.cache.store().status();
    let block = u64::from(daemon.cache.store().block_bytes());
    let counters = store.counters;
    let classes: Vec<Value> =
        RequestClass::ALL.map(|class| class_json(class, daemon.cache.class(class))).into();
    let volumes: Vec<Value> = daemon
        .volumes
        .iter()
        .map(|volume| {
            let stored = store.volumes.iter().find(|stored| stored.name == volume.key);
            volume_json(volume, stored.map(|stored| stored.blocks * block))
        })
        .collect();
    let answer = json!({
        "flash": daemon.settings.document.flash,
        "state": match store.health {
            CacheHealth::Working => "working",
            CacheHealth::Failed { .. } => "failed",
            CacheHealth::Closed => "closed",
        },
        "state_text": store.health.to_string(),
        "is_draining": daemon.is_draining.get(),
        "seconds": daemon.runtime.now().since(daemon.started).0 as f64 / 1e9,
        "block_bytes": block,
        "capacity_bytes": store.capacity_blocks * block,
        "cached_bytes": store.cached_blocks * block,
        "memory_bytes": store.memory_bytes,
        "requests_memory_bytes": daemon.hall.memory.used(),
        "clients": daemon.clients.get(),
        "initiators": daemon.initiators.get(),
        "clients_seen": daemon.clients_seen.get(),
        "block_hits": counters.block_hits,
        "block_misses": counters.block_misses,
        "blocks_admitted": counters.admitted,
        "blocks_refused": counters.refused,
        "blocks_evicted": counters.evicted,
        "blocks_invalidated": counters.invalidated,
        "blocks_damaged": counters.damaged,
        "flash_written_bytes": counters.flash_bytes_written,
        "checkpoints": counters.checkpoints,
        "classes": classes,
        "volumes": volumes,
    });
    report::answer("cache_status", answer)
}

fn class_json(class: RequestClass, counters: ClassCounters) -> Value {
    json!({
        "class": class.name(),
        "reads": counters.reads,
        "hits": counters.hits,
        "read_bytes": counters.read_bytes,
        "hit_bytes": counters.hit_bytes,
        "writes": counters.writes,
        "written_bytes": counters.written_bytes,
    })
}

fn volume_json(volume: &BehindCache, held: Option<u64>) -> Value {
    let wish = volume.wish.borrow();
    json!({
        "name": wish.name,
        "device": wish.device,
        "read_only": wish.is_read_only,
        "length_bytes": volume.exported.bytes(),
        "cached_bytes": held,
        "min_bytes": wish.least.map(|bytes| bytes.0),
        "max_bytes": wish.most.map(|bytes| bytes.0),
        "classes": RequestClass::ALL.map(|class| class_json(class, volume.cached.class(class))),
        "clients": tally_json(&volume.front.borrow()),
        "device_requests": tally_json(&volume.back.borrow()),
    })
}

fn tally_json(tally: &DeviceTally) -> Value {
    json!({
        "reads": series_json(&tally.reads),
        "writes": series_json(&tally.writes),
        "flushes": series_json(&tally.flushes),
        "last_error": tally.last_error,
    })
}

fn series_json(series: &RequestSeries) -> Value {
    let histogram: Vec<Value> =
        series.histogram().map(|(bound, below)| json!([bound, below])).collect();
    let mean = series.spent.0 as f64 / 1e3 / (series.requests.max(1)) as f64;
    json!({
        "requests": series.requests,
        "bytes": series.bytes,
        "errors": series.errors,
        "seconds": series.spent.0 as f64 / 1e9,
        "mean_us": mean,
        "p50_us": series.quantile_us(0.5),
        "p99_us": series.quantile_us(0.99),
        "histogram_us": histogram,
    })
}

/// Counters and gauges of the store: name in the status, metric name, kind and help.
const STORE_METRICS: [(&str, &str, &str, &str); 14] = [
    ("capacity_bytes", "capacity_bytes", "gauge", "Room for blocks on flash"),
    ("cached_bytes", "cached_bytes", "gauge", "Blocks on flash"),
    ("clients", "clients", "gauge", "Connected clients"),
    ("initiators", "initiators", "gauge", "Those of them that are iSCSI initiators"),
    ("memory_bytes", "index_memory_bytes", "gauge", "Memory of the index"),
    ("requests_memory_bytes", "requests_memory_bytes", "gauge", "Memory of requests in progress"),
    ("block_hits", "block_hits_total", "counter", "Blocks read from flash"),
    ("block_misses", "block_misses_total", "counter", "Blocks read from volumes"),
    ("blocks_admitted", "blocks_admitted_total", "counter", "Blocks taken in"),
    ("blocks_refused", "blocks_refused_total", "counter", "Blocks that lacked room or budget"),
    ("blocks_evicted", "blocks_evicted_total", "counter", "Blocks evicted"),
    ("blocks_invalidated", "blocks_invalidated_total", "counter", "Blocks dropped by writes"),
    ("blocks_damaged", "blocks_damaged_total", "counter", "Blocks whose checksum did not match"),
    ("flash_written_bytes", "flash_written_bytes_total", "counter", "Bytes written to flash"),
];

/// Formats the server's state in the Prometheus text format.
pub(super) fn metrics(status: &Value) -> String {
    let mut text = String::new();
    let is_working = status["state"] == "working";
    head(&mut text, "up", "gauge", "1 if the cache is in use, 0 if its flash failed");
    let _ = writeln!(text, "plimsoll_cache_up {}", u8::from(is_working));
    for (member, name, kind, help) in STORE_METRICS {
        head(&mut text, name, kind, help);
        let _ = writeln!(text, "plimsoll_cache_{name} {}", status[member]);
    }
    let classes = status["classes"].as_array().map_or(&[][..], Vec::as_slice);
    for (member, name, help) in [
        ("reads", "reads_total", "Reads of clients"),
        ("hits", "read_hits_total", "Reads that flash answered"),
        ("hit_bytes", "saved_bytes_total", "Bytes that volumes were spared"),
        ("writes", "writes_total", "Writes of clients"),
    ] {
        head(&mut text, name, "counter", help);
        for class in classes {
            let label = class["class"].as_str().unwrap_or_default();
            let _ = writeln!(text, "plimsoll_cache_{name}{{class=\"{label}\"}} {}", class[member]);
        }
    }
    let volumes = status["volumes"].as_array().map_or(&[][..], Vec::as_slice);
    for side in ["clients", "device_requests"] {
        latencies(&mut text, volumes, side);
    }
    text
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP plimsoll_cache_{name} {help}");
    let _ = writeln!(text, "# TYPE plimsoll_cache_{name} {kind}");
}

/// Writes latency histograms of every volume: as seen by clients, and of the device behind the
/// cache.
fn latencies(text: &mut String, volumes: &[Value], side: &str) {
    let (name, help) = match side {
        "clients" => ("request_seconds", "Latency of clients' requests"),
        _ => ("device_request_seconds", "Latency of requests to the device behind the cache"),
    };
    head(text, name, "histogram", help);
    for volume in volumes {
        let label = volume["name"].as_str().unwrap_or_default();
        for kind in ["reads", "writes", "flushes"] {
            let series = &volume[side][kind];
            let labels = format!("volume=\"{label}\",kind=\"{kind}\"");
            let name = format!("plimsoll_cache_{name}");
            let buckets = series["histogram_us"].as_array().map_or(&[][..], Vec::as_slice);
            for bucket in buckets {
                let bound = bucket[0].as_f64().unwrap_or(0.0) / 1e6;
                let _ = writeln!(text, "{name}_bucket{{{labels},le=\"{bound}\"}} {}", bucket[1]);
            }
            let requests = &series["requests"];
            let _ = writeln!(text, "{name}_bucket{{{labels},le=\"+Inf\"}} {requests}");
            let _ = writeln!(text, "{name}_sum{{{labels}}} {}", series["seconds"]);
            let _ = writeln!(text, "{name}_count{{{labels}}} {requests}");
        }
    }
}
