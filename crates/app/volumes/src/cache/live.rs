//! The page of a served cache, for people.

use std::fmt::Write as _;

use serde_json::Value;
use units::Bytes;

/// Lines about a served cache; with rates if an earlier state is given.
pub(super) fn page(now: &Value, before: Option<&Value>) -> String {
    let mut text = String::new();
    let flash = now["flash"].as_str().unwrap_or_default();
    if now["state"] == "working" {
        let (used, room) = (bytes(now, "cached_bytes"), bytes(now, "capacity_bytes"));
        let _ = writeln!(text, "{flash}: working, {used} of {room} in use");
    } else {
        let state = now["state_text"].as_str().unwrap_or_default();
        let _ = writeln!(text, "{flash}: THE CACHE IS OFF: {state}");
    }
    let _ = writeln!(
        text,
        "  {} clients, {} since the start {:.0} s ago; {} written to flash",
        now["clients"],
        now["clients_seen"],
        now["seconds"].as_f64().unwrap_or(0.0),
        bytes(now, "flash_written_bytes"),
    );
    for class in list(now, "classes") {
        let name = class["class"].as_str().unwrap_or_default();
        let earlier = before.and_then(|before| named(before, "classes", "class", name));
        class_line(&mut text, class, earlier);
    }
    for volume in list(now, "volumes") {
        volume_lines(&mut text, volume);
    }
    let damaged = count(now, "blocks_damaged");
    if damaged > 0 {
        let _ = writeln!(
            text,
            "  DAMAGED: {} whose checksum does not match, read from the volume instead; replace \
             the flash",
            units::plural(damaged, "block")
        );
    }
    text
}

fn class_line(text: &mut String, class: &Value, before: Option<&Value>) {
    let [reads, hits, writes, hit_bytes] =
        ["reads", "hits", "writes", "hit_bytes"].map(|member| growth(class, before, member));
    if reads + writes == 0 {
        return;
    }
    let share = hits as f64 * 100.0 / reads.max(1) as f64;
    let name = class["class"].as_str().unwrap_or_default();
    let saved = Bytes(hit_bytes);
    let _ = writeln!(
        text,
        "  {name}: {}, {share:.1} % from flash ({saved} the volumes were spared), {}",
        units::plural(reads, "read"),
        units::plural(writes, "write")
    );
}

fn volume_lines(text: &mut String, volume: &Value) {
    let name = volume["name"].as_str().unwrap_or_default();
    let device = volume["device"].as_str().unwrap_or_default();
    let (held, length) = (bytes(volume, "cached_bytes"), bytes(volume, "length_bytes"));
    let _ = writeln!(text, "  {name} ({device}): {held} cached of {length}");
    for (side, words) in [("clients", "for clients"), ("device_requests", "on the device")] {
        let tally = &volume[side];
        let (reads, writes) = (&tally["reads"], &tally["writes"]);
        let _ = writeln!(
            text,
            "    {words:<13}  {} reads, mean {}, 99 % below {}; {} writes, mean {}",
            reads["requests"],
            micros(&reads["mean_us"]),
            micros(&reads["p99_us"]),
            writes["requests"],
            micros(&writes["mean_us"]),
        );
        if let Some(error) = tally["last_error"].as_str().filter(|_| side == "device_requests") {
            let _ = writeln!(text, "    LAST ERROR: {error}");
        }
    }
}

fn micros(value: &Value) -> String {
    let micros = value.as_f64().unwrap_or(0.0);
    if micros < 1_000.0 {
        format!("{micros:.0} \u{b5}s")
    } else {
        format!("{:.1} ms", micros / 1e3)
    }
}

/// How much a counter has grown since `before`.
fn growth(now: &Value, before: Option<&Value>, member: &str) -> u64 {
    let count_now = count(now, member);
    count_now - before.map_or(0, |before| count(before, member).min(count_now))
}

fn count(value: &Value, member: &str) -> u64 {
    value[member].as_u64().unwrap_or(0)
}

fn bytes(value: &Value, member: &str) -> Bytes {
    Bytes(count(value, member))
}

fn list<'a>(value: &'a Value, member: &str) -> &'a [Value] {
    value[member].as_array().map_or(&[], Vec::as_slice)
}

fn named<'a>(value: &'a Value, of: &str, member: &str, name: &str) -> Option<&'a Value> {
    list(value, of).iter().find(|item| item[member] == name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn the_page_shows_what_the_cache_brought_and_shouts_when_it_is_off() {
        let series = json!({ "requests": 4, "mean_us": 120.0, "p99_us": 2_048 });
        let tally = json!({ "reads": series, "writes": series, "last_error": null });
        let status = |state: &str, reads: u64| {
            json!({
                "flash": "f.img", "state": state, "state_text": "the flash failed", "clients": 1,
                "clients_seen": 2, "seconds": 3.0, "cached_bytes": 1 << 20,
                "capacity_bytes": 1 << 30, "blocks_damaged": 0, "flash_written_bytes": 0,
                "classes": [{ "class": "database", "reads": reads, "hits": reads / 2,
                    "hit_bytes": 4_096, "writes": 0 }],
                "volumes": [{ "name": "mail", "device": "d", "cached_bytes": 5,
                    "length_bytes": 9, "clients": tally, "device_requests": tally }],
            })
        };
        let whole = page(&status("working", 100), None);
        assert!(whole.contains("database: 100 reads, 50.0 % from flash"), "{whole}");
        assert!(whole.contains("mean 120 \u{b5}s, 99 % below 2.0 ms"), "{whole}");
        let rate = page(&status("working", 100), Some(&status("working", 60)));
        assert!(rate.contains("database: 40 reads"), "{rate}");
        assert!(page(&status("failed", 1), None).contains("THE CACHE IS OFF"));
    }
}
