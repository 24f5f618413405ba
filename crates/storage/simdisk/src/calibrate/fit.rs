//! Fits an array to measured loads: reads first, then writes, each with the parameters that the
//! loads determine.

use std::fmt;

use super::descent::{COARSE, FINE, descend, ranges};
use super::loads::{MeasuredLoad, ProbeLoadKind};
use super::replay::mean_latency;
use crate::description::{
    ArrayDescription, CacheSection, Calibration, FileSystemSection, FlashSection, HostSection,
    LimitSection, NeighbourSection, PathSection, RaidSection,
};
use crate::model::ArrayModel;
use crate::raid::RaidLevel;

/// Single reads slower than this that do not gain from concurrency come from a disk arm.
const READ_OF_AN_ARM_US: f64 = 2_000.0;

/// No measurement on a machine in use determines request times more exactly than this.
const LEAST_UNCERTAINTY_PERCENT: f64 = 15.0;

/// Best accuracy of a load's mean.
const MEASURED_WITHIN: f64 = 0.05;

/// The fitted array.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedArray {
    /// The array, ready to be written to a file.
    pub description: ArrayDescription,
    /// Free parameters, with error bars.
    pub parameters: Vec<FittedParameter>,
    /// Every load, measured and as fitted.
    pub loads: Vec<FittedLoad>,
}

/// A parameter and how well the loads determine it.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedParameter {
    /// Its key in an array file.
    pub key: &'static str,
    /// Its value, in the unit of the key.
    pub value: f64,
    /// Range within which the loads fit almost as well: with at most twice the squared error, or
    /// with 5 % more error in each load.
    pub range: (f64, f64),
}

/// A load as measured and on the fitted array, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FittedLoad {
    /// As measured.
    pub measured: MeasuredLoad,
    /// Mean latency on the fitted array.
    pub fitted_us: f64,
}

impl FittedLoad {
    /// Percentage by which the fit exceeds the measurement.
    pub fn off_percent(&self) -> f64 {
        (self.fitted_us / microseconds(&self.measured) - 1.0) * 100.0
    }
}

/// Why nothing fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// A load had no answer within its time.
    Unanswered {
        /// The load, in words.
        load: String,
    },
    /// Single reads take as long as on a hard disk.
    LooksLikeAnArm {
        /// Mean of single reads.
        microseconds: u64,
    },
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unanswered { load } => {
                write!(f, "{load}: no request was answered in its time; give each load longer")
            }
            Self::LooksLikeAnArm { microseconds } => write!(
                f,
                "single reads take {microseconds} us and gain nothing from company, like those of \
                 a disk with an arm; only flash and virtual disks are fitted: describe its disks \
                 in an array file"
            ),
        }
    }
}

impl std::error::Error for FitError {}

/// Keys of the parameters that reads determine, then those of writes, of durable writes and of
/// reads beside writes.
const READ_KEYS: [&str; 4] =
    ["flash.overhead_us", "flash.read_us", "flash.dies", "flash.interface_mb_per_second"];
const WRITE_KEYS: [&str; 2] = ["flash.write_overhead_us", "flash.program_us"];
const DURABLE_KEYS: [&str; 1] = ["flash.durable_us"];
const BESIDE_KEYS: [&str; 1] = ["flash.read_beside_writes_us"];

/// Die counts to try.
const DIES: [f64; 14] =
    [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0, 12.0, 16.0, 24.0, 32.0, 48.0, 64.0, 128.0];

/// Each key alone; more dies with slower reads; time on the die or before it; a slower die or
/// interface.
const READ_DIRECTIONS: [&[i32]; 7] = [
    &[1, 0, 0, 0],
    &[0, 1, 0, 0],
    &[0, 0, 1, 0],
    &[0, 0, 0, 1],
    &[0, 1, 1, 0],
    &[1, -1, 0, 0],
    &[0, 1, 0, 4],
];
const WRITE_DIRECTIONS: [&[i32]; 3] = [&[1, 0], &[0, 1], &[1, -1]];
const ONE_DIRECTION: [&[i32]; 1] = [&[1]];

/// Fits the array on which loads in a file of `span` bytes take as long as measured.
pub fn fit(
    measured: &[MeasuredLoad],
    span: u64,
    (name, provenance): (&str, &str),
) -> Result<FittedArray, FitError> {
    if let Some(unanswered) = measured.iter().find(|of| of.requests == 0) {
        return Err(FitError::Unanswered { load: unanswered.load.to_string() });
    }
    let fitting = Fitting::new(measured, span, name, provenance);
    fitting.refuse_arms()?;
    let read =
        fitting.with_ranges(&fitting.reads, &fitting.begin(), (&READ_KEYS, &READ_DIRECTIONS));
    let of_writes = fitting.begin_of_writes(values_of(&read));
    let written =
        fitting.with_ranges(&fitting.writes, &[of_writes], (&WRITE_KEYS, &WRITE_DIRECTIONS));
    let both = [read.as_slice(), &written].concat();
    let of_durable = fitting.begin_beyond(&fitting.durable[0], values_of(&both));
    let durable =
        fitting.with_ranges(&fitting.durable, &[of_durable], (&DURABLE_KEYS, &ONE_DIRECTION));
    let others = [both, durable].concat();
    let of_beside = fitting.begin_beyond(&fitting.beside[0], values_of(&others));
    let beside = fitting.with_ranges(&fitting.beside, &[of_beside], (&BESIDE_KEYS, &ONE_DIRECTION));
    Ok(fitting.conclude([others, beside].concat()))
}

/// The measurements, and the constants of the search.
struct Fitting<'a> {
    reads: Vec<MeasuredLoad>,
    writes: Vec<MeasuredLoad>,
    durable: Vec<MeasuredLoad>,
    beside: Vec<MeasuredLoad>,
    span: u64,
    name: &'a str,
    provenance: &'a str,
}

/// Starting values of the search: fixed and variable ones.
struct Begin {
    /// Values of the read keys while writes are fitted.
    fixed: Vec<f64>,
    free: Vec<f64>,
}

impl<'a> Fitting<'a> {
    fn new(measured: &[MeasuredLoad], span: u64, name: &'a str, provenance: &'a str) -> Self {
        let of = |is_wanted: fn(ProbeLoadKind) -> bool| {
            measured.iter().filter(|of| is_wanted(of.load.kind)).copied().collect()
        };
        Self {
            reads: of(|kind| {
                matches!(kind, ProbeLoadKind::RandomReads | ProbeLoadKind::SequentialReads)
            }),
            writes: of(|kind| kind == ProbeLoadKind::RandomWrites),
            durable: of(|kind| kind == ProbeLoadKind::DurableWrites),
            beside: of(|kind| kind == ProbeLoadKind::ReadsBesideBursts),
            span,
            name,
            provenance,
        }
    }

    fn refuse_arms(&self) -> Result<(), FitError> {
        let (one, many) = (&self.reads[0], &self.reads[3]);
        let single = microseconds(one);
        let gain = rate(many) / rate(one);
        if single > READ_OF_AN_ARM_US && gain < 4.0 {
            return Err(FitError::LooksLikeAnArm { microseconds: one.mean.0 / 1_000 });
        }
        Ok(())
    }

    /// One guess per possible number of dies: no descent gets from one to another.
    fn begin(&self) -> Vec<Begin> {
        let single = microseconds(&self.reads[0]);
        let fastest = self.reads[..4].iter().map(rate).fold(0.0, f64::max);
        let stream = rate(&self.reads[4]) * f64::from(self.reads[4].load.bytes);
        let random = fastest * f64::from(self.reads[0].load.bytes);
        let rate = (stream.max(random) / 1e6).clamp(0.2, 4e5);
        let mut begins = Vec::new();
        for dies in DIES {
            let read = (dies / fastest * 1e6).min(single * 0.8);
            for more in [1.1, 2.2] {
                let free = vec![single - read, read, dies, rate * more];
                begins.push(Begin { fixed: Vec::new(), free });
            }
        }
        begins
    }

    fn begin_of_writes(&self, reads: Vec<f64>) -> Begin {
        let single = microseconds(&self.writes[0]);
        let fastest = self.writes[..4].iter().map(rate).fold(0.0, f64::max);
        let program = (reads[2] / fastest * 1e6).clamp(1.0, 1e6);
        Begin { fixed: reads, free: vec![(single * 0.5).max(1.0), program] }
    }

    /// Initial guess for one more parameter: how much longer its load takes than the fit without it
    /// predicts.
    fn begin_beyond(&self, measured: &MeasuredLoad, others: Vec<f64>) -> Begin {
        let model = self.model(&others).expect("invariant: a fit ends within the bounds");
        let other = mean_latency(&model, measured.load, self.span) / 1e3;
        Begin { fixed: others, free: vec![(microseconds(measured) - other).max(1.0)] }
    }

    /// The best fit, and the range around it in which the loads are met almost as well.
    fn with_ranges(
        &self,
        loads: &[MeasuredLoad],
        begins: &[Begin],
        (keys, directions): (&[&'static str], &[&[i32]]),
    ) -> Vec<FittedParameter> {
        let misfit = Misfit { fitting: self, loads, fixed: &begins[0].fixed };
        let tries = begins.iter().map(|begin| {
            let mut values = begin.free.clone();
            (descend(&mut values, directions, &COARSE, |tried| misfit.of(tried)), values)
        });
        let best = tries.min_by(|one, other| one.0.total_cmp(&other.0));
        let (_, mut best) = best.expect("invariant: there is a guess");
        let least = descend(&mut best, directions, &FINE, |tried| misfit.of(tried));
        let allowed = loads.len() as f64 * MEASURED_WITHIN * MEASURED_WITHIN;
        let most = (2.0 * least).max(least + allowed);
        let ranges = ranges(&best, directions, most, |tried| misfit.of(tried));
        keys.iter()
            .zip(best)
            .zip(ranges)
            .map(|((key, value), range)| FittedParameter { key, value, range })
            .collect()
    }

    /// The model with these values of the keys; `None` if they are out of its bounds.
    fn model(&self, values: &[f64]) -> Option<ArrayModel> {
        self.description(values, Calibration::default()).model(self.name).ok()
    }

    fn description(&self, values: &[f64], calibration: Calibration) -> ArrayDescription {
        ArrayDescription {
            name: self.name.to_owned(),
            provenance: self.provenance.to_owned(),
            calibration,
            raid: RaidSection { stripe_kib: 1_024, ..RaidSection::of(RaidLevel::Raid0, 1) },
            disk: None,
            flash: Some(FlashSection {
                capacity_gb: 10_000.0,
                dies: whole(value(values, 2, 1.0)),
                read_us: value(values, 1, 1.0),
                program_us: value(values, 5, 1.0),
                page_kib: 32,
                interface_mb_per_second: value(values, 3, 1e3),
                overhead_us: value(values, 0, 1.0),
                write_overhead_us: value(values, 4, 0.0),
                durable_us: value(values, 6, 0.0),
                read_beside_writes_us: value(values, 7, 0.0),
                write_amplification: 1.0,
                buffer_kib: 512,
                buffer_is_volatile: false,
            }),
            cache: CacheSection::default(),
            path: PathSection {
                links: 1,
                mb_per_second: 1e6,
                latency_us: 0.0,
                processors: 1,
                request_us: 0.0,
                write_us: None,
                kib_us: 0.0,
                drive_us: 0.0,
            },
            limits: LimitSection::default(),
            neighbours: NeighbourSection::default(),
            file_system: FileSystemSection::default(),
            host: HostSection::default(),
            host_cache: None,
        }
    }

    /// Returns the fitted array with its values and its error.
    fn conclude(&self, parameters: Vec<FittedParameter>) -> FittedArray {
        let values = values_of(&parameters);
        let model = self.model(&values).expect("invariant: a fit ends within the bounds");
        let loads: Vec<FittedLoad> =
            [self.reads.as_slice(), &self.writes, &self.durable, &self.beside]
                .concat()
                .into_iter()
                .map(|measured| {
                    let fitted_us = mean_latency(&model, measured.load, self.span) / 1e3;
                    FittedLoad { measured, fitted_us }
                })
                .collect();
        let squares: f64 = loads.iter().map(|load| load.off_percent().powi(2)).sum();
        let off = (squares / loads.len() as f64).sqrt();
        let calibration = Calibration {
            results: loads.iter().map(|load| load.measured.load.to_string()).collect(),
            free_parameters: u32::try_from(parameters.len()).unwrap_or(u32::MAX),
            uncertainty_percent: (2.0 * off).clamp(LEAST_UNCERTAINTY_PERCENT, 100.0),
        };
        let description = self.description(&values, calibration);
        FittedArray { description, parameters, loads }
    }
}

/// The cost function of the fit.
struct Misfit<'a> {
    fitting: &'a Fitting<'a>,
    loads: &'a [MeasuredLoad],
    fixed: &'a [f64],
}

impl Misfit<'_> {
    /// Sum of squared errors of the latencies, as logarithms, with these free values.
    fn of(&self, free: &[f64]) -> f64 {
        let Some(model) = self.fitting.model(&[self.fixed, free].concat()) else {
            return f64::MAX;
        };
        let squares = self.loads.iter().map(|of| {
            let fitted = mean_latency(&model, of.load, self.fitting.span) / 1e3;
            (fitted / microseconds(of)).ln().powi(2)
        });
        squares.sum()
    }
}

fn values_of(parameters: &[FittedParameter]) -> Vec<f64> {
    parameters.iter().map(|parameter| parameter.value).collect()
}

/// The value of a key; `unknown` if it is not fitted yet.
fn value(values: &[f64], index: usize, unknown: f64) -> f64 {
    values.get(index).copied().unwrap_or(unknown)
}

fn microseconds(measured: &MeasuredLoad) -> f64 {
    (measured.mean.0 as f64 / 1e3).max(1e-3)
}

/// Requests per second of a closed load.
fn rate(measured: &MeasuredLoad) -> f64 {
    f64::from(measured.load.in_flight) / (microseconds(measured) / 1e6)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of dies: one at least, and far below 2^32"
)]
fn whole(dies: f64) -> usize {
    dies.round().max(1.0) as usize
}
