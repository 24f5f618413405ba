//! One disk against arithmetic.

use units::{Prng, Seed};

use super::{
    DataSheetSeeks, DiskArm, DiskParameters, Geometry, MediaRequest, QueuePolicy, SeekCurve,
    SeekFamily, WriteCacheParameters,
};

/// A 15K disk of 600 GB.
pub(super) fn parameters(policy: QueuePolicy) -> DiskParameters {
    DiskParameters {
        geometry: Geometry {
            capacity: 600e9,
            outer_rate: 204e3,
            inner_rate: 122e3,
            revolution: 4.0,
        },
        seek: data_sheet(0.2, 3.4, 6.6),
        write_settle: 0.4,
        overhead: 0.2,
        queue_depth: 32,
        policy,
        read_ahead: 0.0,
        write_cache: WriteCacheParameters::default(),
    }
}

fn data_sheet(single_track_ms: f64, average_ms: f64, full_stroke_ms: f64) -> SeekCurve {
    let sheet = DataSheetSeeks { single_track_ms, average_ms, full_stroke_ms };
    SeekCurve::of_data_sheet(SeekFamily::default(), sheet).expect("a curve")
}

fn uniform(prng: &mut Prng) -> f64 {
    (prng.below(1 << 40) as f64 + 0.5) / (1_u64 << 40) as f64
}

pub(super) fn random_read(prng: &mut Prng, token: u32, arrived: u64) -> MediaRequest {
    let offset = prng.below(600_000_000_000 / 32_768 - 1) * 32_768;
    MediaRequest { token, offset, length: 32_768, arrived, ..MediaRequest::default() }
}

/// Serves reads that arrive at the given moments; response times in milliseconds.
fn serve(disk: &mut DiskArm, arrivals: &[MediaRequest]) -> Vec<f64> {
    let mut responses = Vec::new();
    let mut due: Option<u64> = None;
    let mut next = arrivals.iter().peekable();
    loop {
        let arrives = next.peek().map(|request| request.arrived);
        match (due, arrives) {
            (None, None) => return responses,
            (Some(done), arrives) if arrives.is_none_or(|at| done <= at) => {
                let (request, then) = disk.done(done);
                responses.push((done - request.arrived) as f64 / 1e6);
                due = then;
            }
            _ => {
                let request = *next.next().expect("it was looked at");
                due = disk.submit(request.arrived, request).or(due);
            }
        }
    }
}

/// A request skipped without computing its rotation could not have been the first.
#[test]
fn a_choice_without_far_requests_is_the_choice_among_all() {
    let sheet = parameters(QueuePolicy::Satf);
    let table = SeekCurve::Table(vec![(0.001, 0.5), (0.3, 3.0), (1.0, 6.0)]);
    let steep = data_sheet(0.0, 3.9, 7.4);
    for seek in [sheet.seek.clone(), table, steep] {
        let mut prng = Prng::new(Seed(7));
        for _ in 0..2_000 {
            let mut arm = DiskArm::new(DiskParameters { seek: seek.clone(), ..sheet.clone() }, 0.3);
            let now = 5_000_000_000 + prng.below(1_000_000_000);
            arm.submit(0, random_read(&mut prng, 0, 0));
            for token in 1..=2 + u32::try_from(prng.below(30)).expect("few") {
                let arrived = now - prng.below(50_000_000);
                let read = random_read(&mut prng, token, arrived);
                arm.submit(arrived, MediaRequest { is_write: token % 3 == 0, ..read });
            }
            let now_ms = now as f64 / 1e6;
            let costs = arm.waiting.iter().map(|placed| {
                let aged = 0.1 * (now - placed.request.arrived) as f64 / 1e6;
                arm.positioned(now_ms, placed) - now_ms - aged
            });
            let first = costs.enumerate().min_by(|one, other| one.1.total_cmp(&other.1));
            assert_eq!(Some(arm.choose(now)), first.map(|(index, _)| index));
        }
    }
}

/// One FIFO disk under Poisson load waits as Pollaczek and Khinchine say, within 2 %.
#[test]
fn a_fifo_disk_under_random_arrivals_waits_as_the_formula_says() {
    for load in [0.3, 0.6] {
        let mut prng = Prng::new(Seed(7));
        let mut alone = DiskArm::new(parameters(QueuePolicy::Fifo), 0.3);
        // Service times, each request contiguous with the one before and none queued.
        let mut now = 0;
        let count = 400_000_u32;
        let (mut sum, mut squares) = (0.0, 0.0);
        for token in 0..count {
            let at = now;
            now = alone.submit(at, random_read(&mut prng, token, at)).expect("it is idle");
            alone.done(now);
            let service = (now - at) as f64 / 1e6;
            sum += service;
            squares += service * service;
        }
        let (mean, square) = (sum / f64::from(count), squares / f64::from(count));
        let rate = load / mean;
        let expected = mean + rate * square / (2.0 * (1.0 - load));
        let mut at = 0.0;
        let mut disk = DiskArm::new(parameters(QueuePolicy::Fifo), 0.3);
        let arrivals: Vec<MediaRequest> = (0..count)
            .map(|token| {
                at += -uniform(&mut prng).ln() / rate;
                random_read(&mut prng, token, super::moment(at))
            })
            .collect();
        let responses = serve(&mut disk, &arrivals);
        let response = responses.iter().sum::<f64>() / responses.len() as f64;
        assert!((response / expected - 1.0).abs() < 0.02, "{load}: {response} of {expected}");
    }
}

#[test]
fn a_disk_that_chooses_serves_more_than_one_that_does_not() {
    let spent = |policy| {
        let mut prng = Prng::new(Seed(3));
        let mut disk = DiskArm::new(parameters(policy), 0.0);
        let all: Vec<_> = (0..4_000).map(|token| random_read(&mut prng, token, 0)).collect();
        serve(&mut disk, &all);
        disk.busy as f64
    };
    let fifo = spent(QueuePolicy::Fifo);
    assert!(spent(QueuePolicy::CLook) < 0.9 * fifo);
    assert!(spent(QueuePolicy::Satf) < 0.6 * fifo);
}

/// Why storage without a write cache is slow at logs: each write misses its revolution.
#[test]
fn a_durable_write_behind_another_waits_for_a_whole_revolution() {
    let mut disk = DiskArm::new(parameters(QueuePolicy::Fifo), 0.0);
    let mut now = 0;
    let mut last = 0;
    for token in 0..50_u32 {
        let offset = u64::from(token) * 4_096;
        let write = MediaRequest { token, is_write: true, ..MediaRequest::default() };
        let request = MediaRequest { offset, length: 4_096, arrived: now, ..write };
        last = disk.submit(now, request).expect("it is idle") - now;
        now += last;
        disk.done(now);
    }
    let milliseconds = last as f64 / 1e6;
    assert!((3.9..4.1).contains(&milliseconds), "{milliseconds}");
}

#[test]
fn reads_behind_each_other_come_at_the_rate_of_the_medium() {
    let mut disk =
        DiskArm::new(DiskParameters { read_ahead: 1e6, ..parameters(QueuePolicy::Fifo) }, 0.0);
    let (mut now, length) = (0, 262_144_u64);
    let begun = 100;
    let mut from = 0;
    for token in 0..1_000_u32 {
        if token == begun {
            from = now;
        }
        let offset = u64::from(token) * length;
        let request =
            MediaRequest { token, offset, length, arrived: now, ..MediaRequest::default() };
        now = disk.submit(now, request).expect("it is idle");
        disk.done(now);
    }
    let rate = (1_000 - u64::from(begun)) as f64 * length as f64 / ((now - from) as f64 / 1e6);
    assert!((rate / 204e3 - 1.0).abs() < 0.01, "{rate}");
}
