//! Flags of `run`.

mod durations;

use std::path::PathBuf;

use clap::Args;
use plan::{Sessions, TestKind};

use console::args::values::Offered;
use console::args::{RecordedRunFlags, sessions};
use durations::{TestDuration, test_duration};

/// Value that requests a set of tests.
pub(crate) const ALL: &str = "all";

/// Kinds of tests that `run` takes.
const TESTS_TO_RUN: Offered = Offered(|| [TestKind::NAMES, &[ALL]].concat());

/// Flags of `run`.
#[derive(Args, Debug)]
pub(crate) struct RunFlags {
    /// The plan that the databases were prepared with
    #[arg(value_name = "PLAN", required_unless_present = "resume")]
    pub plan: Option<PathBuf>,
    /// Resume a run that a crash, a power cut or the user ended, given the folder of its journal.
    /// Completes the remaining time with its plan, settings and seed
    #[arg(long, value_name = "RUN", conflicts_with_all = ["output", "acknowledge", "name", "tags"])]
    pub resume: Option<PathBuf>,
    /// Kind of test: performance, stress, backup, recovery or checksum; all: the first four, one
    /// after the other, with one report
    #[arg(long, value_name = "KIND", value_parser = TESTS_TO_RUN,
        hide_possible_values = true)]
    pub test: Option<String>,
    /// Length of the measurement, e.g. 2h or 90s; with --test all that of both loads, or each
    /// by name: performance=2h,stress=24h
    #[arg(long, value_name = "TIME|TEST=TIME", value_parser = test_duration,
        value_delimiter = ',')]
    pub duration: Vec<TestDuration>,
    /// Sessions per database, or auto
    #[arg(long, value_name = "N|auto", value_parser = sessions)]
    pub threads: Option<Sessions>,
    /// Hold the load at N database reads and writes per second in total; fail if the storage does
    /// not reach it [default: as many as possible]
    #[arg(long, value_name = "N")]
    pub target_iops: Option<u32>,
    /// Seed of the operations
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder for journal and reports [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Log every commit to FILE before and after it, for crash tests
    #[arg(long, value_name = "FILE")]
    pub acknowledge: Option<PathBuf>,
    /// Keep the load running after the warm-up until the file `measure-at` in the run's folder
    /// gives the start of the measurement: passed by a fleet's agent
    #[arg(long, hide = true, requires = "output", conflicts_with = "resume")]
    pub hold_measurement: bool,
    #[command(flatten)]
    pub recorded: RecordedRunFlags,
    /// Answer in JSON: the content of report.json
    #[arg(long)]
    pub json: bool,
}
