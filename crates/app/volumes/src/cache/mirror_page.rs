//! The state of a mirrored volume in words.

use serde_json::Value;
use units::Bytes;

/// `true` if `status` is that of a mirrored volume.
pub(super) fn is_mirror(status: &Value) -> bool {
    status["kind"] == "cache_mirror"
}

/// The page that `cache status` prints.
pub(super) fn page(status: &Value) -> String {
    let heard = if status["peer_is_heard"] == true { "heard" } else { "silent" };
    let data = match status["data_on"].as_str() {
        Some("device") => "the device behind both copies".to_owned(),
        Some("both") => "both hosts".to_owned(),
        Some(host) => format!("{host} alone"),
        None => "unknown".to_owned(),
    };
    let mut lines = vec![
        format!(
            "{}: {} of {}",
            text(status, "volume"),
            text(status, "role"),
            bytes(status, "bytes")
        ),
        format!("Host           {} (peer {}: {heard})", text(status, "host"), text(status, "peer")),
        format!("Served by      {}, epoch {}", text(status, "owner"), status["epoch"]),
        format!("Data on        {data}"),
        format!("Dirty          {}", bytes(status, "dirty_bytes")),
        format!(
            "This copy      {} in a file of {}",
            bytes(status, "stored_bytes"),
            bytes(status, "flash_file_bytes")
        ),
        format!("Reads          {}", reads(status)),
        format!("Clients        {}", status["clients"]),
    ];
    if let (Some(done), Some(total)) =
        (status["resync"]["done"].as_u64(), status["resync"]["total"].as_u64())
    {
        lines.push(format!("Copying        {done} of {total} blocks to {}", text(status, "peer")));
    }
    if status["state"] == "failed" {
        lines.push("Flash          FAILED; replace it and start the server again".to_owned());
    }
    lines.join("\n") + "\n"
}

/// Blocks that clients of this host have read, and the share that came from its copy.
fn reads(status: &Value) -> String {
    let [reads, hits] = ["reads", "read_hits"].map(|key| status[key].as_u64().unwrap_or(0));
    if reads == 0 {
        return "none".to_owned();
    }
    format!("{reads} blocks, {} % from this copy", hits * 100 / reads)
}

fn text(status: &Value, key: &str) -> String {
    status[key].as_str().unwrap_or("unknown").to_owned()
}

fn bytes(status: &Value, key: &str) -> String {
    Bytes(status[key].as_u64().unwrap_or(0)).to_string()
}
