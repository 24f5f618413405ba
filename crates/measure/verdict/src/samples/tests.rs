//! Drawn series with and without a drift: how often each is detected.

use units::{Prng, Seed};

use super::{Trend, estimate, trend};

fn normal(prng: &mut Prng) -> f64 {
    (0..12).map(|_| (prng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64).sum::<f64>() - 6.0
}

/// Noise around 100 with a drift from start to end; each sample keeps `memory` of the previous one.
fn drawn(prng: &mut Prng, count: usize, change: f64, memory: f64) -> Vec<f64> {
    let (mut noise, mut series) = (0.0, Vec::new());
    for at in 0..count {
        noise = memory * noise + normal(prng) * 5.0;
        series.push(100.0 + noise + change * at as f64 / (count - 1) as f64);
    }
    series
}

fn alarms(count: usize, change: f64, memory: f64) -> usize {
    let mut prng = Prng::new(Seed(11));
    (0..1_000)
        .filter(|_| trend(&drawn(&mut prng, count, change, memory), 0.05) != Some(Trend::Steady))
        .count()
}

#[test]
fn steady_noise_raises_hardly_an_alarm() {
    assert!(alarms(12, 0.0, 0.0) <= 20);
    assert!(alarms(480, 0.0, 0.5) <= 20);
}

#[test]
fn a_drift_is_found() {
    assert!(alarms(12, 30.0, 0.0) >= 900);
    assert!(alarms(480, 15.0, 0.5) >= 990);
}

#[test]
fn a_certain_drift_of_no_consequence_is_none() {
    let rising: Vec<f64> = (0..100).map(|at| 100.0 + f64::from(at) / 50.0).collect();
    assert_eq!(trend(&rising, 0.05), Some(Trend::Steady));
    assert_eq!(trend(&rising[..5], 0.05), None);
}

#[test]
fn the_interval_covers_the_mean_as_often_as_it_says() {
    let mut prng = Prng::new(Seed(5));
    let mut covered = 0;
    for _ in 0..1_000 {
        let estimate = estimate(&drawn(&mut prng, 12, 0.0, 0.0));
        covered += u32::from((estimate.mean - 100.0).abs() <= estimate.half_width.unwrap());
    }
    assert!((930..=970).contains(&covered), "{covered}");
    assert_eq!(estimate(&[3.0]).half_width, None);
}
