//! The curve of a data sheet against its own figures.

use units::{Prng, Seed};

use super::{DataSheetSeeks, SeekCurve, SeekFamily};

const fn sheet(single_track_ms: f64, average_ms: f64, full_stroke_ms: f64) -> DataSheetSeeks {
    DataSheetSeeks { single_track_ms, average_ms, full_stroke_ms }
}

const FAMILIES: [SeekFamily; 2] = [SeekFamily::Phases, SeekFamily::RootAndLine];

/// Disks of 15,000, 10,000 and 7,200 rpm, and one with the same time for all seeks.
const SHEETS: [DataSheetSeeks; 4] =
    [sheet(0.2, 3.4, 6.6), sheet(0.3, 4.2, 8.0), sheet(0.8, 8.5, 17.0), sheet(2.0, 2.0, 2.0)];

fn uniform(prng: &mut Prng) -> f64 {
    prng.below(1 << 40) as f64 / (1_u64 << 40) as f64
}

/// Mean over random pairs of cylinders, whose distance `d` has the density `2 (1 - d)`, integrated
/// over the fourth root of `d`, where the curve is smooth.
fn mean_ms(curve: &SeekCurve) -> f64 {
    let steps = 20_000;
    let parts = (0..steps).map(|step| {
        let root = (f64::from(step) + 0.5) / f64::from(steps);
        let distance = root.powi(4);
        curve.milliseconds(distance) * 2.0 * (1.0 - distance) * 4.0 * root.powi(3)
    });
    parts.sum::<f64>() / f64::from(steps)
}

#[test]
fn a_curve_has_exactly_the_three_figures_of_its_sheet() {
    let each = FAMILIES.map(|family| SHEETS.map(|sheet| (family, sheet)));
    for (family, sheet) in each.into_iter().flatten() {
        let curve = SeekCurve::of_data_sheet(family, sheet).expect("a curve");
        let (shortest, longest) = (curve.milliseconds(1e-300), curve.milliseconds(1.0));
        assert!((shortest - sheet.single_track_ms).abs() < 1e-9, "{shortest} of {sheet:?}");
        assert!((longest - sheet.full_stroke_ms).abs() < 1e-9, "{longest} of {sheet:?}");
        let mean = mean_ms(&curve);
        assert!((mean - sheet.average_ms).abs() < 1e-6, "{mean} of {sheet:?}");
    }
}

/// Figures drawn from all that a description may contain: a curve is refused, or it rises from the
/// single-track to the full-stroke seek, keeps the average and lies above its lower bound.
#[test]
fn any_three_figures_make_a_rising_curve_or_none() {
    let mut prng = Prng::new(Seed(66));
    let mut curves = 0;
    for _ in 0..2_000 {
        let full = uniform(&mut prng) * 1e3;
        let single = full * (1.1 * uniform(&mut prng)).powi(3);
        let average = single + (full - single) * uniform(&mut prng);
        let drawn = sheet(single, average, full);
        let family = FAMILIES[usize::from(prng.below(2) == 0)];
        let (least, most) = family.possible_averages_ms(drawn);
        let curve = SeekCurve::of_data_sheet(family, drawn);
        assert_eq!(curve.is_some(), full >= single && (least..=most).contains(&average));
        let Some(curve) = curve else { continue };
        curves += 1;
        assert!((mean_ms(&curve) - average).abs() < 1e-5 * full, "{drawn:?}");
        let mut before = single;
        for step in 1..=500 {
            let distance = (f64::from(step) / 500.0).powi(3);
            let now = curve.milliseconds(distance);
            assert!(now >= before && now <= full + 1e-9, "{now} at {distance} of {drawn:?}");
            assert!(curve.least_milliseconds(distance) <= now, "{distance} of {drawn:?}");
            before = now;
        }
    }
    assert!(curves > 300, "{curves}");
}

#[test]
fn a_data_sheet_that_contradicts_itself_has_no_curve() {
    let wrong = [
        sheet(0.2, 6.0, 6.6),
        sheet(1.0, 2.0, 9.0),
        sheet(5.0, 4.0, 3.0),
        sheet(-1.0, 2.0, 6.0),
        sheet(0.2, f64::NAN, 6.6),
        sheet(0.2, 3.4, f64::INFINITY),
        sheet(f64::INFINITY, 3.4, 6.6),
    ];
    for sheet in wrong {
        for family in FAMILIES {
            assert_eq!(SeekCurve::of_data_sheet(family, sheet), None, "{sheet:?}");
        }
    }
}

#[test]
fn a_table_is_followed_and_ends_flat() {
    let curve = SeekCurve::Table(vec![(0.1, 1.0), (0.5, 3.0)]);
    let at = |distance| curve.milliseconds(distance);
    assert_eq!((at(0.0), at(0.05), at(0.3), at(0.9)), (0.0, 1.0, 2.0, 3.0));
}
