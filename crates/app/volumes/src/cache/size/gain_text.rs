//! The gains of caches, for people and for programs.

use serde_json::{Value, json};
use units::Bytes;

use super::curve::{BAR, bar, gibibytes, share};
use super::gain::{CacheGain, GainAdvice, GainPoint};
use console::Console;
use console::error::CommandError;

/// Fractions of the final hit ratio to show times for.
const PARTS: [f64; 3] = [0.25, 0.5, 0.9];

pub(super) fn text(gain: &CacheGain, console: &mut Console) -> Result<(), CommandError> {
    console.answer(format_args!(
        "{} on {}, simulated; {} of databases; caches are full, writes go through",
        gain.plan, gain.array, gain.database_bytes
    ))?;
    console.answer(format_args!(
        "The array is uncertain by {:.0} % either way; the gain of one size over another by less.",
        gain.uncertainty_percent
    ))?;
    console.answer("")?;
    console.answer(format_args!(
        "{:>10}  {:>8}  {:BAR$}  {:>9}  {:>8}  {:>9}  {:>9}  {:>11}  {:>11}",
        "cache",
        "IOPS",
        "",
        "hit ratio",
        "read ms",
        "write ms",
        "traffic",
        "flash a day",
        "90 % warm"
    ))?;
    let most = gain.points.iter().map(|point| point.iops).fold(0.0, f64::max);
    for point in &gain.points {
        console.answer(row(point, most))?;
    }
    console.answer("")?;
    console.answer_folded(advice(gain), 0)?;
    if let GainAdvice::Buy(at) = gain.advice() {
        console.answer_folded(warm_up(&gain.points[at]), 0)?;
    }
    console.answer_folded(
        "The load reads all pages alike, as Jetstress does, so that a cache hits as often as it is \
         large. Real mail is skewed: size its cache from a trace (`cache size --trace`).",
        0,
    )
}

fn row(point: &GainPoint, most: f64) -> String {
    let cache = point.cache.as_ref();
    format!(
        "{:>10}  {:>8}  {:BAR$}  {:>9}  {:>8.2}  {:>9.2}  {:>9}  {:>11}  {:>11}",
        point.size.map_or_else(|| "none".to_owned(), |size| size.to_string()),
        report::format::number(point.iops, 0),
        bar(point.iops / most.max(1e-9)),
        or_dash(cache.map(|_| share(Some(point.hit_ratio())))),
        point.read_ms,
        point.write_ms,
        or_dash(cache.map(|of| format!("-{}", share(of.traffic_saved())))),
        or_dash(cache.map(|_| gibibytes(point.flash_bytes_a_day))),
        or_dash(point.hours_to(0.9).map(hours)),
    )
}

fn hours(hours: f64) -> String {
    if hours >= 1.0 { format!("{hours:.1} h") } else { format!("{:.0} min", hours * 60.0) }
}

fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

fn warm_up(point: &GainPoint) -> String {
    let parts: Vec<String> = PARTS
        .iter()
        .filter_map(|&part| {
            let ratio = share(Some(point.hit_ratio() * part));
            Some(format!("{ratio} after {}", hours(point.hours_to(part)?)))
        })
        .collect();
    format!("It begins cold. Hit ratio of page reads at this load: {}.", parts.join(", "))
}

fn advice(gain: &CacheGain) -> String {
    match gain.advice() {
        GainAdvice::Buy(at) => {
            let (load, latency) = gain.gains(at);
            let writes = gain.points[at].write_ms / gain.points[0].write_ms.max(1e-9);
            format!(
                "Take {}: {load:.1} times the IOPS, reads {latency:.1} times as fast, {} of the \
                 traffic off the array. Writes take {writes:.1} times as long as without it.",
                size_text(&gain.points[at]),
                share(
                    gain.points[at]
                        .cache
                        .as_ref()
                        .and_then(record::FlashCacheInterval::traffic_saved)
                ),
            )
        }
        GainAdvice::NotNeeded => "Do not buy a cache: the array carries the load that this plan \
                                  asks for without one."
            .to_owned(),
        GainAdvice::TooLittle => {
            let last = gain.points.len() - 1;
            let (load, latency) = gain.gains(last);
            format!(
                "Do not buy a cache: even {} brings only {load:.2} times the IOPS and reads \
                 {latency:.2} times as fast. Every write still waits for the array; spend the \
                 money on its drives or its write cache.",
                size_text(&gain.points[last])
            )
        }
    }
}

fn size_text(point: &GainPoint) -> String {
    point.size.map_or_else(String::new, |size| size.to_string())
}

pub(super) fn json(gain: &CacheGain) -> Value {
    let bytes = match gain.advice() {
        GainAdvice::Buy(at) => gain.points[at].size.map(|size| size.0),
        GainAdvice::TooLittle | GainAdvice::NotNeeded => None,
    };
    json!({
        "plan": gain.plan,
        "array": gain.array,
        "database_bytes": gain.database_bytes.0,
        "block_bytes": gain.block.0,
        "uncertainty_percent": gain.uncertainty_percent,
        "scanned_bytes": gain.scanned_bytes(),
        "points": gain.points.iter().map(point_json).collect::<Vec<_>>(),
        "advice": { "buy": bytes.is_some(), "bytes": bytes, "text": advice(gain) },
    })
}

fn point_json(point: &GainPoint) -> Value {
    let cache = point.cache.as_ref();
    let warm_up = point.warm_up.iter().step_by(10);
    json!({
        "bytes": point.size.map(|size: Bytes| size.0),
        "iops": point.iops,
        "read_ms": point.read_ms,
        "write_ms": point.write_ms,
        "passes": point.passes,
        "hit_ratio": cache.map(|_| point.hit_ratio()),
        "traffic_saved": cache.and_then(record::FlashCacheInterval::traffic_saved),
        "flash_bytes_a_day": cache.map(|_| point.flash_bytes_a_day),
        "warm_up": warm_up
            .map(|of| json!({ "hours": of.hours, "hit_ratio": of.hit_ratio }))
            .collect::<Vec<_>>(),
    })
}
