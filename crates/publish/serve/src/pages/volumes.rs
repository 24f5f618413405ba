//! Answers the first question about any volume: is it good? Last verdict, distance from the limit,
//! and whether it is becoming slower.

use std::fmt::Write as _;

use report::escape;
use verdict::Significance;

use super::{address, list, volume_address};
use crate::runs::Listed;
use crate::sets;
use crate::volumes::{MeasuredVolume, measured};

/// A table with a row for each volume; empty if no run measured one. `root` is the name of the
/// served folder.
pub(crate) fn volumes(runs: &[Listed], root: &str) -> String {
    let sets = sets::of(runs, root);
    let volumes = measured(runs, &sets);
    if volumes.is_empty() {
        return String::new();
    }
    let mut body = String::from(
        "<section id=\"volumes\">\n<h2>Volumes</h2>\n<table class=\"runs\">\n<thead><tr>\
         <th>Volume</th><th>Last verdict</th><th class=\"number\">Margin</th><th>Trend of \
         reads</th><th>Last run</th></tr></thead>\n<tbody>\n",
    );
    for volume in &volumes {
        body.push_str(&row(volume));
    }
    body.push_str(
        "</tbody>\n</table>\n<p class=\"note\">Margin: distance of the worst latency from its \
         limit, in percent of the limit.</p>\n</section>\n",
    );
    body
}

fn row(volume: &MeasuredVolume<'_>) -> String {
    let place = volume_address(volume.identity);
    let about = [volume.identity.machine.as_str(), volume.identity.model.as_str()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<&str>>()
        .join(" \u{b7} ");
    format!(
        "<tr><th scope=\"row\"><a href=\"{}\">{}</a><small>{}</small></th>\
         <td class=\"{}\"><a href=\"/run/{}\">{}</a></td>\
         <td class=\"number\" data-label=\"Margin\">{}</td><td>{}{}</td><td>{}</td></tr>\n",
        escape(&place),
        escape(&volume.identity.mount),
        escape(&about),
        volume.judged.tone.class(),
        address(&volume.judged.id),
        escape(&volume.judged.verdict),
        margin(volume.judged.margin_percent),
        curve(volume),
        drift(volume),
        list::started(volume.last),
    )
}

fn margin(percent: Option<f64>) -> String {
    match percent {
        Some(percent) if percent < 0.0 => format!("{:.0} % beyond", -percent),
        Some(percent) => format!("{percent:.0} %"),
        None => "-".to_owned(),
    }
}

fn drift(volume: &MeasuredVolume<'_>) -> String {
    let Some((change, earlier)) = volume.drift() else {
        return "no earlier load like it".to_owned();
    };
    let percent = change.percent.abs();
    let earlier = match earlier {
        1 => "the load before it".to_owned(),
        earlier => format!("the {earlier} loads before it"),
    };
    match change.significance() {
        Significance::Unknown => "too short to tell".to_owned(),
        Significance::Noise => format!("as {earlier}"),
        Significance::Real if change.percent > 0.0 => {
            format!("{percent:.0} % slower than {earlier}")
        }
        Significance::Real => format!("{percent:.0} % quicker than {earlier}"),
    }
}

/// Mean read latencies of the last loads as a line without axes; empty if there are fewer than two.
fn curve(volume: &MeasuredVolume<'_>) -> String {
    let reads_ms: Vec<f64> = volume.loads.iter().filter_map(|load| load.read_ms).collect();
    let highest = reads_ms.iter().copied().fold(0.0, f64::max);
    if reads_ms.len() < 2 || highest <= 0.0 {
        return String::new();
    }
    let step = 72.0 / (reads_ms.len() - 1) as f64;
    let mut points = String::new();
    for (at, ms) in reads_ms.iter().enumerate() {
        let _ = write!(points, "{:.1},{:.1} ", at as f64 * step + 2.0, 18.0 - ms / highest * 16.0);
    }
    format!(
        "<svg class=\"trend\" viewBox=\"0 0 76 20\" width=\"76\" height=\"20\" \
         aria-hidden=\"true\"><polyline points=\"{}\"/></svg> ",
        points.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use verdict::SampledMean;

    use super::volumes;
    use crate::runs::{Known, Listed};
    use crate::summary::RunLine;
    use crate::volumes::tests::load;

    #[test]
    fn each_volume_has_its_verdict_its_margin_and_its_trend() {
        let runs = [
            load("a", 1_000_000_000, "pass", "/mnt/a", 10.0),
            load("b", 2_000_000_000, "fail", "/mnt/a", 24.0),
            load("c", 1_000_000_000, "pass", "/mnt/b", 4.0),
        ];
        let page = volumes(&runs, "runs");
        for part in [
            "<a href=\"/run/b\">fail</a>",
            "20 % beyond",
            "140 % slower than the load before it",
            "80 %",
            "no earlier load like it",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(page.matches("<polyline").count(), 1, "{page}");
        assert_eq!(volumes(&[], "runs"), "");
    }

    /// Two loads without a spread may differ by chance alone, as `compare` finds too.
    #[test]
    fn a_trend_is_judged_as_a_comparison_judges_it() {
        let said = |last_ms, sampled: Option<[f64; 3]>| {
            let runs = [("a", 1, 10.0), ("b", 2, last_ms)].map(|(id, started_ns, read_ms)| {
                let run = load(id, started_ns, "pass", "/mnt/a", read_ms);
                let Known::Summary(line) = &run.known else { panic!("no summary") };
                let sampled_reads = sampled.map(SampledMean::of_numbers);
                let line = RunLine { sampled_reads, ..RunLine::clone(line) };
                Listed::made_up(id, false, Known::Summary(Arc::new(line)))
            });
            volumes(&runs, "runs")
        };
        assert!(said(18.5, None).contains("too short to tell"));
        assert!(said(10.4, Some([10.2, 1e-4, 11.0])).contains("as the load before it"));
        assert!(said(18.5, Some([14.0, 9.0, 11.0])).contains("as the load before it"));
    }
}
