//! Calibrates on a volume of the model itself: the result must be its own parameters.

use std::rc::Rc;

use device::{Executor, VirtualReactor, Volume, VolumeImage};
use units::{Nanos, Seed};

use super::{CalibrationWatch, FitError, MeasuredLoad, VolumeProbe, fit, probe};
use crate::{ArrayDescription, SimulatedArray};

const FILE_BYTES: u64 = 256 << 20;

struct SilentWatch {
    stopped: bool,
}

impl CalibrationWatch for SilentWatch {
    fn tell(&self, _: &str, share: f64) {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }

    fn is_stopped(&self) -> bool {
        self.stopped
    }
}

/// Measurements of loads on a volume of an array, in virtual time.
fn measured(array: &str, stopped: bool) -> Option<Vec<MeasuredLoad>> {
    let description = ArrayDescription::parse("test", array, &[]).expect("an array");
    let reactor = VirtualReactor::new();
    let array = SimulatedArray::new(&description, &reactor, Seed(3)).expect("an array");
    let volume: Rc<dyn Volume> = Rc::new(array.volume("a", array.whole(), &VolumeImage::default()));
    let executor = Executor::new(reactor);
    let order = VolumeProbe {
        file: "probe".to_owned(),
        file_bytes: FILE_BYTES,
        each: Nanos::from_secs(1),
        seed: Seed(5),
    };
    let probing = probe(executor.runtime(), volume, order, Rc::new(SilentWatch { stopped }));
    executor.block_on(probing).expect("no errors")
}

/// Dies, microseconds of a read and of a command, MB/s, microseconds of a program, of a write on
/// top and of a durable one, and the extra time of a read beside writes.
type FlashTruth = [f64; 8];

fn flash(truth: FlashTruth) -> String {
    let [dies, read, overhead, rate, program, write_overhead, durable, beside] = truth;
    format!(
        "name = \"t\"\nprovenance = \"made up\"\n[raid]\nlevel = 0\ndisks = 1\nstripe_kib = 1024\n\
         [flash]\ncapacity_gb = 1000\ndies = {dies}\nread_us = {read}\nprogram_us = {program}\n\
         page_kib = 32\ninterface_mb_per_second = {rate}\noverhead_us = {overhead}\n\
         write_overhead_us = {write_overhead}\ndurable_us = {durable}\n\
         read_beside_writes_us = {beside}\nbuffer_kib = 512\n\
         [path]\nmb_per_second = 1000000\nlatency_us = 0\nrequest_us = 0\n"
    )
}

// Writes take longer than reads, so that reads arrive beside them.
const BOUND_BY_DIES: FlashTruth = [8.0, 400.0, 40.0, 1_500.0, 900.0, 600.0, 900.0, 250.0];
const BOUND_BY_INTERFACE: FlashTruth = [12.0, 150.0, 40.0, 900.0, 700.0, 300.0, 15.0, 80.0];

/// A replay and the seam see the same array.
#[test]
fn loads_meet_behind_the_seam_what_they_meet_in_a_replay() {
    let array = flash(BOUND_BY_DIES);
    let description = ArrayDescription::parse("test", &array, &[]).expect("an array");
    let model = description.model("test").expect("a model");
    for MeasuredLoad { load, mean, .. } in measured(&array, false).expect("to the end") {
        let replayed = super::replay::mean_latency(&model, load, FILE_BYTES);
        let ratio = replayed / mean.0 as f64;
        // Small writes wait for the dies that are still busy with the previous load.
        assert!((0.9..1.1).contains(&ratio), "{load}: {ratio}");
    }
}

/// An array of the model must yield its own parameters, and the loads it was measured with.
#[expect(clippy::print_stdout, reason = "the figures are what the test is for")]
fn gives_itself_back(truth: FlashTruth) {
    let measured = measured(&flash(truth), false).expect("to the end");
    let fitted = fit(&measured, FILE_BYTES, ("t", "made up")).expect("a fit");
    let by_key = [truth[2], truth[1], truth[0], truth[3], truth[5], truth[4], truth[6], truth[7]];
    for (parameter, truth) in fitted.parameters.iter().zip(by_key) {
        println!("{parameter:?}, made of {truth}");
    }
    for load in &fitted.loads {
        println!("{}: off by {:.1} %", load.measured.load, load.off_percent());
        assert!(load.off_percent().abs() < 5.0, "{load:?}");
    }
    for (parameter, truth) in fitted.parameters.iter().zip(by_key) {
        let (least, most) = parameter.range;
        assert!((least..=most).contains(&truth), "{parameter:?} of {truth}");
    }
    let text = fitted.description.text();
    let again = ArrayDescription::parse("again", &text, &[]).expect("a file that reads back");
    assert_eq!(again, fitted.description);
}

#[test]
fn a_volume_bound_by_its_dies_gives_back_what_it_was_made_of() {
    gives_itself_back(BOUND_BY_DIES);
}

#[test]
#[ignore = "takes as long again: cargo xtask prove exhaustive"]
fn a_volume_bound_by_its_interface_gives_back_what_it_was_made_of() {
    gives_itself_back(BOUND_BY_INTERFACE);
}

#[test]
fn a_disk_with_an_arm_is_refused_by_name() {
    let array = include_str!("../../../../../arrays/disk-7200.toml");
    let measured =
        measured(&array.replace("write-back", "pass-through"), false).expect("to the end");
    let error = fit(&measured, FILE_BYTES, ("t", "made up")).expect_err("no flash");
    assert!(matches!(error, FitError::LooksLikeAnArm { .. }), "{error}");
}

#[test]
fn a_probe_that_is_stopped_says_nothing() {
    assert_eq!(measured(&flash(BOUND_BY_DIES), true), None);
}
