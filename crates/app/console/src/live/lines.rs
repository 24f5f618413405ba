//! Describes a live run: a few lines as wide as the terminal, or one sentence for a log.

use record::Phase;
use report::format::whole;

use super::latency::{SampledLatency, milliseconds};
use super::spark::sparkline;
use super::{Figures, LiveRun};
use crate::term;

/// Columns next to the bars for the rate and its target.
const RATE_COLUMNS: usize = 40;

/// Fewer bars are not drawn.
const FEWEST_BARS: usize = 8;

impl LiveRun {
    /// The lines for a terminal of `columns` columns, `now_ns` after the start of the run.
    pub(crate) fn lines(&self, now_ns: u64, columns: usize) -> Vec<String> {
        let mut lines = self.lines_of_run(now_ns, columns);
        lines.extend(self.outlook(now_ns).map(|outlook| format!("  {outlook}")));
        lines
    }

    fn lines_of_run(&self, now_ns: u64, columns: usize) -> Vec<String> {
        let mut lines = vec![self.head(now_ns)];
        let Some(latest) = self.latest.as_ref().filter(|_| self.is_loaded()) else {
            lines.extend(self.waits_for().map(|waits| format!("  {waits}")));
            return lines;
        };
        lines.push(self.rate(latest, columns));
        for line in self.latencies(latest) {
            let line = format!("  {line}");
            let is_wide = line.chars().count() < columns;
            lines.push(if is_wide {
                line
            } else {
                line.replace(" ms of ", " of ").replace(" at most", "")
            });
        }
        lines.extend(latest.others.as_ref().map(|others| format!("  {others}")));
        lines
    }

    /// Describes the run in one line, for a log.
    pub(crate) fn sentence(&self, now_ns: u64) -> String {
        let of_run = self.sentence_of_run(now_ns);
        [Some(of_run), self.outlook(now_ns)].into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    fn sentence_of_run(&self, now_ns: u64) -> String {
        let head = self.head(now_ns);
        let Some(latest) = self.latest.as_ref().filter(|_| self.is_loaded()) else {
            return [Some(head), self.waits_for()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("; ");
        };
        let pace = if self.phase() == Some(Phase::Measure) { String::new() } else { self.pace() };
        let rate = format!("{} IOPS{pace}", rounded(latest.iops()));
        let mut parts = vec![head, rate];
        parts.extend(self.latencies(latest));
        parts.extend(latest.others.clone());
        parts.join("; ")
    }

    /// Requests still in flight after the load has ended; `None` if none has waited for long.
    fn waits_for(&self) -> Option<String> {
        let latest = self.latest.as_ref()?;
        let kinds = [("reads", latest.read), ("log writes", latest.log_write)];
        let kinds = kinds.into_iter().chain([("writes", latest.write)]);
        let waits =
            kinds.filter_map(|(what, latency)| Some(format!("{what}: {}", latency.waiting()?)));
        Some(waits.collect::<Vec<_>>().join(", ")).filter(|text| !text.is_empty())
    }

    /// The latencies against their limits: the current ones, and during the measurement also the
    /// slowest sample.
    fn latencies(&self, latest: &Figures) -> [String; 2] {
        let limits = &self.settings.thresholds;
        let mut read = limited("read", latest.read, limits.read_average_ns);
        let mut log = limited("log write", latest.log_write, limits.log_write_average_ns);
        if self.phase() == Some(Phase::Measure) {
            read.push_str(&worst(self.worst.read_ns, limits.read_maximum_ns));
            log.push_str(&worst(self.worst.log_write_ns, limits.log_write_maximum_ns));
        }
        [read, log]
    }

    /// Describes the phase and its progress.
    fn head(&self, now_ns: u64) -> String {
        let Some(phase) = self.phase() else {
            return "starting".to_owned();
        };
        let elapsed = self.elapsed(now_ns);
        let name = phase.name();
        let limit = self.limit(now_ns);
        if let Some(work) = self.work {
            let far = term::describe(name, work.done_bytes, work.total_bytes, elapsed);
            let most = limit.map(|(limit, gone)| term::duration(limit.saturating_sub(gone)));
            return far + &most.map_or_else(String::new, |most| format!(", {most} at most"));
        }
        let time = match (self.planned(), limit) {
            (Some(whole), _) => {
                let left = term::duration(whole.saturating_sub(elapsed));
                format!("{} of {}, {left} left", term::duration(elapsed), term::duration(whole))
            }
            (None, Some((limit, gone))) => {
                format!("{} of at most {}", term::duration(gone), term::duration(limit))
            }
            (None, None) => term::duration(elapsed),
        };
        format!("{name}: {time}{}", self.issues())
    }

    fn issues(&self) -> String {
        match self.issues {
            0 => String::new(),
            1 => "; 1 issue".to_owned(),
            count => format!("; {count} issues"),
        }
    }

    /// Describes the present or coming target of the load.
    fn pace(&self) -> String {
        let Some(target) = self.settings.target_iops else {
            return String::new();
        };
        if self.phase() == Some(Phase::Measure) || self.settings.warm_up_held {
            format!(" of {} asked", rounded(target))
        } else {
            format!(", not yet held at {}", rounded(target))
        }
    }

    /// The rate, its recent course, and its target.
    fn rate(&self, latest: &Figures, columns: usize) -> String {
        let target = self.pace();
        let bars = match columns.saturating_sub(RATE_COLUMNS) {
            0..FEWEST_BARS => String::new(),
            room => format!(" {}", sparkline(self.rates.iter().copied(), room)),
        };
        format!("  {} IOPS{target}{bars}", rounded(latest.iops()))
    }
}

fn limited(what: &str, latency: SampledLatency, limit_ns: u64) -> String {
    let waiting = latency.waiting().map_or_else(String::new, |waiting| format!(", {waiting}"));
    format!("{what} {} of at most {}{waiting}", milliseconds(latency.mean_ns), limit(limit_ns))
}

/// The slowest sample against its own limit; empty before there is one.
fn worst(slowest_ns: Option<f64>, limit_ns: u64) -> String {
    slowest_ns.map_or_else(String::new, |_| {
        format!(", worst {} of {}", milliseconds(slowest_ns), limit(limit_ns))
    })
}

fn limit(nanoseconds: u64) -> String {
    format!("{} ms", nanoseconds as f64 / 1e6)
}

fn rounded(rate: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a rate is no less than 0 and far below 2^53"
    )]
    let rate = rate.round() as u64;
    whole(rate)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use record::synthetic::Synthetic;
    use record::{Edge, Event, Interval, Phase, PhaseMark, Series};
    use units::Nanos;

    use super::LiveRun;

    fn limits() -> BTreeMap<Phase, Nanos> {
        BTreeMap::from([Phase::Drain, Phase::Check].map(|phase| (phase, Nanos::from_secs(300))))
    }

    /// A run up to the third sample of its measurement, and the end time of that sample.
    fn run() -> (LiveRun, u64) {
        let mut run = None;
        let mut samples = 0;
        for event in Synthetic::default().events() {
            if let Event::Start(start) = &event {
                run = Some(LiveRun::new(start.settings.clone(), limits()));
            }
            run.as_mut().unwrap().event(&event);
            if let Event::Interval(interval) = &event
                && interval.phase == Phase::Measure
            {
                samples += 1;
                if samples == 3 {
                    return (run.unwrap(), interval.to_ns);
                }
            }
        }
        panic!("a synthetic run has samples");
    }

    #[test]
    fn a_person_sees_time_rate_and_latencies_against_their_limits() {
        let (run, now_ns) = run();
        let lines = run.lines(now_ns, 80);
        assert_eq!(lines.len(), 4, "{lines:?}");
        assert!(lines[0].starts_with("measurement: ") && lines[0].ends_with(" left"), "{lines:?}");
        assert!(lines[1].contains(" IOPS") && lines[1].contains('\u{2588}'), "{lines:?}");
        assert!(lines[2].contains(" of at most 20 ms, worst "), "{lines:?}");
        assert!(lines[2].ends_with(" of 100 ms"), "{lines:?}");
        assert!(lines[3].starts_with("  log write ") && lines[3].contains("at most 10 ms"));
        assert!(lines.iter().all(|line| line.chars().count() < 80), "{lines:?}");
    }

    #[test]
    fn a_narrow_terminal_has_no_bars_and_a_log_one_line() {
        let (run, now_ns) = run();
        let narrow = run.lines(now_ns, 40);
        assert!(!narrow[1].contains('\u{2588}'), "{narrow:?}");
        assert!(narrow[2].contains(" of 20 ms, worst "), "{narrow:?}");
        assert!(narrow[2].chars().count() < 50, "{narrow:?}");
        let line = run.sentence(now_ns);
        assert!(!line.contains('\n') && line.contains("left; ") && line.contains("IOPS; read "));
    }

    #[test]
    fn a_warm_up_at_full_speed_says_what_the_load_will_be_held_at() {
        let events = Synthetic::default().events();
        let Event::Start(start) = &events[0] else { panic!("a journal begins with a start") };
        let warm = events.iter().find(
            |event| matches!(event, Event::Interval(interval) if interval.phase == Phase::Warm),
        );
        let said = |warm_up_held| {
            let settings = record::Settings { warm_up_held, ..start.settings.clone() };
            let mut run = LiveRun::new(settings, limits());
            let begin = PhaseMark { at_ns: 0, phase: Phase::Warm, edge: Edge::Begin };
            run.event(&Event::Phase(begin));
            run.event(warm.unwrap());
            (run.sentence(1), run.lines(1, 120).remove(1))
        };
        let (sentence, line) = said(true);
        assert!(sentence.contains(" IOPS of 240 asked; read ") && line.contains(" of 240 asked"));
        let (sentence, line) = said(false);
        assert!(sentence.contains(" IOPS, not yet held at 240; read "), "{sentence}");
        assert!(line.contains(" IOPS, not yet held at 240 "), "{line}");
    }

    #[test]
    fn the_bars_of_the_measurement_are_as_high_as_its_own_rates() {
        let mut run: Option<LiveRun> = None;
        for event in Synthetic::default().events() {
            if let Event::Start(start) = &event {
                run = Some(LiveRun::new(start.settings.clone(), limits()));
            }
            let run = run.as_mut().unwrap();
            run.event(&event);
            match &event {
                Event::Phase(mark) if mark.phase == Phase::Warm && mark.edge == Edge::End => {
                    run.rates.push_back(12_000.0);
                }
                Event::Interval(interval) if interval.phase == Phase::Measure => {
                    let line = run.lines(interval.to_ns, 100).remove(1);
                    assert!(line.contains('\u{2588}') && !line.contains('\u{2581}'), "{line}");
                    return;
                }
                _ => {}
            }
        }
        panic!("a synthetic run is measured");
    }

    /// The last interval of `run()`, whose reads wait for 11 s.
    fn stalled(phase: Phase) -> Interval {
        let last = Synthetic::default().events().into_iter().rev().find_map(|event| match event {
            Event::Interval(interval) if interval.phase == Phase::Measure => Some(interval),
            _ => None,
        });
        let mut interval = Interval { phase, ..last.unwrap() };
        for series in interval.databases.iter_mut().flat_map(|database| &mut database.series) {
            series.latency = record::Histogram::default();
            if series.series == Series::DatabaseRead {
                (0..4).for_each(|_| series.unanswered.note_waiting(11_000_000_000));
            }
        }
        interval
    }

    #[test]
    fn reads_that_wait_are_shown_by_their_age() {
        let (mut run, now_ns) = run();
        run.event(&Event::Interval(stalled(Phase::Measure)));
        let lines = run.lines(now_ns, 120);
        assert!(lines[2].contains("read 11000 ms of at most 20 ms, "), "{lines:?}");
        assert!(lines[2].contains(" in flight for up to 11.0 s, worst 11000 ms"), "{lines:?}");
        assert!(lines[3].contains("log write - ms"), "{lines:?}");
    }

    #[test]
    fn after_the_planned_end_it_is_said_what_is_waited_for_and_how_long_at_most() {
        let (mut run, now_ns) = run();
        let begin = |phase| PhaseMark { at_ns: now_ns, phase, edge: Edge::Begin };
        run.event(&Event::Phase(begin(Phase::Drain)));
        run.event(&Event::Interval(stalled(Phase::Drain)));
        let minute = now_ns + 60_000_000_000;
        let line = run.sentence(minute);
        assert!(line.starts_with("drain: 1 min 00 s of at most 5 min 00 s; reads: "), "{line}");
        assert!(line.ends_with(" in flight for up to 11.0 s"), "{line}");
        run.event(&Event::Phase(PhaseMark { at_ns: minute, ..begin(Phase::Check) }));
        let line = run.sentence(minute);
        assert!(line.ends_with("1 min 00 s of at most 5 min 00 s"), "{line}");
    }

    #[test]
    fn what_was_measured_before_a_break_is_not_left() {
        let (mut run, now_ns) = run();
        let measured_ns = run.measured_ns;
        let planned = run.planned().unwrap();
        run.event(&Event::Resumed(record::Resumed { at_ns: now_ns, cut_bytes: 0 }));
        let left = planned.checked_sub(run.planned().unwrap()).unwrap();
        assert_eq!(u128::from(measured_ns), left.as_nanos());
    }
}
