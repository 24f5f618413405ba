//! One volume over months: the results of its runs, as charts and as a table.

use report::{TrendPoint, escape};

use super::{list, page};
use crate::runs::{Known, Listed};
use crate::summary::VolumeIdentity;

/// The page of a volume; the newest run comes first.
pub(crate) fn trend(volume: &VolumeIdentity, runs: &[Listed]) -> String {
    let size = report::format::size(volume.size_bytes);
    let about = if volume.model.is_empty() { size } else { format!("{}, {size}", volume.model) };
    let mut body = format!(
        "<main>\n<h1>{} on {}</h1>\n<p class=\"note\">{}. Runs are of one volume where machine, \
         mount point, model and size are the same. A line joins runs of one kind of test with the \
         same target and settings.</p>\n",
        escape(&volume.mount),
        escape(&volume.machine),
        escape(&about)
    );
    body.push_str(&charts(runs));
    body.push_str("<section>\n<h2>Runs</h2>\n");
    list::push_runs(&mut body, runs);
    body.push_str(
        "</section>\n</main>\n<script src=\"/crosshair.js\"></script>\n\
                   <script src=\"/times.js\"></script>\n",
    );
    page(&format!("{} on {}", volume.mount, volume.machine), &body)
}

/// Rates and latencies of the runs that measured a load; or a sentence if there are none.
fn charts(runs: &[Listed]) -> String {
    let mut points: Vec<TrendPoint> = runs.iter().filter_map(load).collect();
    if points.is_empty() {
        return "<p>No run has measured a load on it.</p>\n".to_owned();
    }
    points.sort_by(|one, other| one.at_s.total_cmp(&other.at_s));
    report::trend_html(&points)
}

/// A run as a point of the charts; `None` if it has not measured a load.
fn load(run: &Listed) -> Option<TrendPoint> {
    let Known::Summary(line) = &run.known else {
        return None;
    };
    let is_load = ["Performance", "Stress"].contains(&line.test.as_str());
    let started_ns = line.started_ns.filter(|_| is_load && !run.is_live && line.iops.is_some())?;
    let started: String = line.started.iter().flat_map(|time| time.chars().take(16)).collect();
    Some(TrendPoint {
        at_s: started_ns as f64 / 1e9,
        name: format!("{} {}: {}", started.replace('T', " "), line.name, line.verdict),
        work: line.work.clone(),
        asked_iops: line.asked_iops,
        iops: line.iops,
        read_ms: line.read_ms,
        log_write_ms: line.log_write_ms,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::volume_address;
    use super::trend;
    use crate::runs::{Known, Listed};
    use crate::summary::{RunLine, VolumeIdentity};

    #[test]
    fn loads_are_drawn_and_every_run_is_listed() {
        let line = |name: &str, test: &str, started_ns| RunLine {
            name: name.to_owned(),
            test: test.to_owned(),
            started_ns: Some(started_ns),
            iops: Some(300.0),
            read_ms: Some(8.0),
            ..RunLine::default()
        };
        let runs = [
            ("a", line("one", "Performance", 1_795_219_200_000_000_000)),
            ("b", line("<two>", "Stress", 1_797_811_200_000_000_000)),
            ("c", line("three", "Checksum", 1_797_811_200_000_000_000)),
        ]
        .map(|(id, line)| Listed::made_up(id, false, Known::Summary(Arc::new(line))));
        let volume = VolumeIdentity {
            machine: "mbx & 01".to_owned(),
            mount: "/mnt/a".to_owned(),
            ..VolumeIdentity::default()
        };
        let page = trend(&volume, &runs);
        assert_eq!(page.matches("<circle").count(), 4, "two of rates, two of reads");
        assert_eq!(page.matches("href=\"/run/").count(), 3);
        assert!(page.contains("mbx &amp; 01") && !page.contains("<two>"));
        let place = "/trend?machine=mbx%20%26%2001&mount=/mnt/a&model=&bytes=0";
        assert_eq!(volume_address(&volume), place);
        assert!(trend(&volume, &runs[2..]).contains("No run has measured a load"));
    }

    #[test]
    fn a_line_joins_only_runs_of_the_same_work() {
        let line = |work: &str, started_ns| RunLine {
            test: "Performance".to_owned(),
            work: work.to_owned(),
            started_ns: Some(started_ns),
            iops: Some(300.0),
            ..RunLine::default()
        };
        let works = ["target 300", "target 900", "target 300", "target 900"];
        let runs = works.into_iter().zip(1_u64..).map(|(work, day)| {
            let line = line(work, 1_795_219_200_000_000_000 + day * 86_400_000_000_000);
            Listed::made_up(&format!("run-{day}"), false, Known::Summary(Arc::new(line)))
        });
        let page = trend(&VolumeIdentity::default(), &runs.collect::<Vec<_>>());
        let rates = page.split("<polyline").skip(1).map(|line| {
            let points = line.split("points=\"").nth(1).and_then(|of| of.split('"').next());
            points.unwrap_or_default().split_whitespace().count()
        });
        assert_eq!(rates.filter(|points| *points > 0).collect::<Vec<_>>(), [2, 2]);
    }
}
