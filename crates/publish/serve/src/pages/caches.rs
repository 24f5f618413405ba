//! The flash caches served by this machine: the requests they answer, their latencies, and their
//! wear.

use std::fmt::Write as _;

use report::escape;
use serde_json::Value;
use units::Bytes;

use super::{page, renewed};
use crate::CacheAnswer;

/// The page of these caches.
pub(crate) fn caches(answers: &[CacheAnswer]) -> String {
    let mut body = String::from(
        "<main>\n<h1>Flash caches</h1>\n<p class=\"note\">Since each server started. Refreshes \
         every 5 s.</p>\n",
    );
    if answers.is_empty() {
        body.push_str(
            "<p>No cache is shown. Start this server with <code>--cache FLASH</code>, the flash of \
             <code>plimsoll cache serve</code>.</p>\n",
        );
    }
    for answer in answers {
        let _ = writeln!(body, "<section>\n<h2>{}</h2>", escape(&answer.flash));
        match &answer.status {
            Ok(status) => push_cache(&mut body, status),
            Err(why) => _ = writeln!(body, "<p>{}</p>", escape(why)),
        }
        body.push_str("</section>\n");
    }
    body.push_str("</main>\n");
    renewed(&page("Flash caches", &body), 5)
}

fn push_cache(body: &mut String, status: &Value) {
    let is_working = status["state"] == "working";
    let state = status["state_text"].as_str().unwrap_or_default();
    let state = if is_working { "working".to_owned() } else { format!("OFF: {}", escape(state)) };
    let [held, room, written, damaged] =
        ["cached_bytes", "capacity_bytes", "flash_written_bytes", "blocks_damaged"]
            .map(|member| count(status, member));
    let seconds = status["seconds"].as_f64().unwrap_or(0.0).max(1.0);
    let writes_a_day = written as f64 / room.max(1) as f64 / seconds * 86_400.0;
    let _ = writeln!(
        body,
        "<p>State: <strong>{state}</strong>. {} clients.</p>\n\
         <p>Occupied: {} of {} <meter aria-hidden=\"true\" min=\"0\" max=\"{room}\" \
         value=\"{held}\"></meter></p>\n\
         <p>Wear: {} written to flash, at this rate {writes_a_day:.2} times its capacity a day. \
         Damaged blocks: {damaged}.</p>",
        count(status, "clients"),
        Bytes(held),
        Bytes(room),
        Bytes(written),
    );
    push_classes(body, status);
    for volume in list(status, "volumes") {
        push_volume(body, volume);
    }
}

/// Reads answered from flash, by class.
fn push_classes(body: &mut String, of: &Value) {
    body.push_str(
        "<table>\n<tr><th>Class</th><th>Reads</th><th>From flash</th><th>Spared</th>\
         <th>Writes</th></tr>\n",
    );
    for class in list(of, "classes") {
        let [reads, hits, bytes, writes] =
            ["reads", "hits", "hit_bytes", "writes"].map(|member| count(class, member));
        let share = match reads {
            0 => "-".to_owned(),
            reads => format!("{:.1} %", hits as f64 * 100.0 / reads as f64),
        };
        let name = escape(class["class"].as_str().unwrap_or_default());
        let _ = writeln!(
            body,
            "<tr><td>{name}</td><td>{reads}</td><td>{share}</td><td>{}</td><td>{writes}</td></tr>",
            Bytes(bytes)
        );
    }
    body.push_str("</table>\n");
}

fn push_volume(body: &mut String, volume: &Value) {
    let [name, device] =
        ["name", "device"].map(|member| escape(volume[member].as_str().unwrap_or_default()));
    let (held, length) = (count(volume, "cached_bytes"), count(volume, "length_bytes"));
    let _ = writeln!(
        body,
        "<h3>{name} on {device}</h3>\n<p>{} of {} cached \
         <meter aria-hidden=\"true\" min=\"0\" max=\"{length}\" value=\"{held}\"></meter></p>",
        Bytes(held),
        Bytes(length)
    );
    push_classes(body, volume);
    for kind in ["reads", "writes"] {
        push_latencies(body, kind, [&volume["clients"][kind], &volume["device_requests"][kind]]);
    }
}

/// Latencies of one kind of request as seen by clients, next to those of the device.
fn push_latencies(body: &mut String, kind: &str, series: [&Value; 2]) {
    let [ours, device] = series.map(shares);
    if ours.iter().chain(&device).all(|(_, share)| *share <= 0.0) {
        return;
    }
    let [own_mean, device_mean] =
        series.map(|series| series["mean_us"].as_f64().unwrap_or(0.0) / 1e3);
    let _ = writeln!(
        body,
        "<table>\n<caption>Latency of {kind}: {own_mean:.3} ms on average for clients, \
         {device_mean:.3} ms on the device</caption>\n\
         <tr><th>Below</th><th>Clients</th><th>Device</th></tr>"
    );
    for ((bound, own), (_, other)) in ours.iter().zip(&device) {
        if own + other > 0.0 {
            let _ = writeln!(
                body,
                "<tr><td>{:.3} ms</td><td>{}</td><td>{}</td></tr>",
                *bound as f64 / 1e3,
                bar(*own),
                bar(*other)
            );
        }
    }
    body.push_str("</table>\n");
}

fn bar(share: f64) -> String {
    let percent = share * 100.0;
    format!(
        "<meter aria-hidden=\"true\" min=\"0\" max=\"100\" value=\"{percent:.1}\"></meter> \
         {percent:.1} %"
    )
}

/// Upper bounds in microseconds, and the share of requests between each and the one before.
fn shares(series: &Value) -> Vec<(u64, f64)> {
    let total = count(series, "requests").max(1) as f64;
    let mut before = 0;
    let mut shares = Vec::new();
    for bucket in list(series, "histogram_us") {
        let (bound, below) = (bucket[0].as_u64().unwrap_or(0), bucket[1].as_u64().unwrap_or(0));
        shares.push((bound, below.saturating_sub(before) as f64 / total));
        before = below;
    }
    shares
}

fn count(value: &Value, member: &str) -> u64 {
    value[member].as_u64().unwrap_or(0)
}

fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::caches;
    use crate::CacheAnswer;

    #[test]
    fn ratios_latencies_wear_and_state_are_on_the_page() {
        let series = |fast: u64| {
            let buckets = [[64, fast], [1_024, 4]];
            json!({ "requests": 4, "mean_us": 120.0, "histogram_us": buckets })
        };
        let classes = json!([
            { "class": "database", "reads": 8, "hits": 6, "hit_bytes": 1 << 20, "writes": 1 },
            { "class": "log", "reads": 0, "hits": 0, "hit_bytes": 0, "writes": 9 },
        ]);
        let status = |state: &str| {
            json!({
                "state": state, "state_text": "the flash <failed>", "clients": 2,
                "seconds": 8_640.0, "cached_bytes": 1 << 20, "capacity_bytes": 1 << 30,
                "flash_written_bytes": 1 << 30, "blocks_damaged": 3, "classes": classes,
                "volumes": [{
                    "name": "mail", "device": "/dev/<sdx>", "cached_bytes": 5, "length_bytes": 9,
                    "classes": classes,
                    "clients": { "reads": series(3), "writes": series(4) },
                    "device_requests": { "reads": series(0), "writes": series(1) },
                }],
            })
        };
        let of = |status| CacheAnswer { flash: "f.img".to_owned(), status };
        let page = caches(&[of(Ok(status("working"))), of(Err("no server answers".to_owned()))]);
        for expected in [
            "75.0 %",
            "<strong>working",
            "10.00 times its capacity a day",
            "Damaged blocks: 3",
            "mail on /dev/&lt;sdx&gt;",
            "Latency of reads: 0.120 ms on average for clients",
            "value=\"75.0\"",
            "no server answers",
            "/renew.js\" data-seconds=\"5\"",
        ] {
            assert!(page.contains(expected), "{expected}: {page}");
        }
        let off = caches(&[of(Ok(status("failed")))]);
        assert!(off.contains("OFF: the flash &lt;failed&gt;"), "{off}");
        assert!(caches(&[]).contains("--cache</span> FLASH"));
    }
}
