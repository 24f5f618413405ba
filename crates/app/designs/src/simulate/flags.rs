//! Flags of `simulate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use host::simulate::SimulationLevel;
use plan::Sessions;
use units::{Bytes, Nanos};

use console::args::{IdentityFlags, duration, sessions, size, values};
use fleets::flags::FleetServerFlags;

/// Flags of `simulate`.
#[derive(Args, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own on the command line"
)]
pub struct SimulateFlags {
    /// The plan; its databases need not exist. A fleet plan, or the provision.json of `plan`, is
    /// simulated as a deployment: every host, with --event failures
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// Array file, or the name of a built-in array such as shelf-15k; an unknown name lists them
    #[arg(long, value_name = "FILE|NAME", value_parser = values::ARRAYS,
        hide_possible_values = true)]
    pub(crate) array: String,
    /// Simulate every combination of values and rank them: KEY=VALUE,VALUE with an array key. As
    /// many run at a time as fit into half of the memory, at up to 2 GiB each
    #[arg(long, value_name = "KEY=VALUES|FILE", num_args = 1..)]
    pub(crate) what_if: Vec<String>,
    /// Folder that caches the results of --what-if and --seeds by content: a simulation of the same
    /// plan, array, seed and program is read from it; journals and reports of single simulations
    /// are then not kept [default: results in the output folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// Run the sweep on the agents of a fleet that were started with --simulate; journals and
    /// reports of single simulations are not kept
    #[arg(long)]
    pub(crate) fleet: bool,
    #[command(flatten)]
    pub(crate) server: FleetServerFlags,
    /// Level of detail: the database engine itself (1), or an operation model measured from it (2),
    /// which simulates hours in seconds and databases of any size
    #[arg(long, value_name = "LEVEL", default_value = "auto")]
    pub(crate) level: LevelFlag,
    /// Give every folder of the plan its own array, or every volume if the plan lists `volumes`;
    /// without it they share one. Level 2 simulates identical ones once
    #[arg(long)]
    pub(crate) each_folder: bool,
    /// Inject an event into a deployment: KIND=NAME@TIME[+DURATION], such as host-lost=EX03@2h+1h;
    /// kinds are host-lost, host-replaced, maintenance, disk-failed, site-lost=1, link-cut and
    /// failback
    #[arg(long = "event", value_name = "EVENT", num_args = 1..)]
    pub(crate) events: Vec<String>,
    /// Put all hosts of a deployment on one array; without it each has its own
    #[arg(long, conflicts_with = "each_folder")]
    pub(crate) shared_array: bool,
    /// Rebuild a failed disk at SIZE per second, e.g. 50MiB; without it, in the share of time that
    /// the array file gives a rebuild
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) rebuild_rate: Option<Bytes>,
    /// Kind of test: performance, stress, backup, recovery or checksum
    #[arg(long, value_name = "KIND", value_parser = values::TESTS, hide_possible_values = true)]
    pub(crate) test: Option<String>,
    /// Simulated time, e.g. 2h or 90s [default: 2m, up to 10m if the load is held low; the plan's
    /// if that is shorter]
    #[arg(long, value_parser = duration)]
    pub(crate) duration: Option<Nanos>,
    /// Sessions per database, or auto
    #[arg(long, value_name = "N|auto", value_parser = sessions)]
    pub(crate) threads: Option<Sessions>,
    /// Hold the load at N database reads and writes per second in total
    #[arg(long, value_name = "N")]
    pub(crate) target_iops: Option<u32>,
    /// Pause after each batch, as a percentage of the batch's duration; 100 matches published
    /// Jetstress 2010 runs
    #[arg(long, value_name = "PERCENT", default_value_t = 0,
        value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub rest: u32,
    /// Seed of the operations and of the array
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Simulate N seeds, the plan's and its successors, and report means with their 95 % confidence
    /// intervals
    #[arg(long, value_name = "N", default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) seeds: u32,
    /// Folder for journals and reports; one that holds a part of the same sweep is completed
    /// [default: run-NAME-DATE-TIME]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) identity: IdentityFlags,
    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Whether another command chose the output folder, so that no printed command repeats it
    #[arg(skip)]
    pub(crate) is_part: bool,
    /// Whether it is one host of a deployment, to whose verdict its report refers.
    #[arg(skip)]
    pub(crate) is_host_of_deployment: bool,
}

/// Level of detail that the user may request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelFlag {
    /// 2 for loads on databases larger than eight caches that have pages for every session, else 1
    Auto,
    /// The database engine itself, on page images in memory
    #[value(name = "1")]
    One,
    /// An operation model measured from the engine: any size and length
    #[value(name = "2")]
    Two,
}

impl From<LevelFlag> for SimulationLevel {
    fn from(flag: LevelFlag) -> Self {
        match flag {
            LevelFlag::Auto => Self::Auto,
            LevelFlag::One => Self::One,
            LevelFlag::Two => Self::Two,
        }
    }
}

impl SimulateFlags {
    /// A plain simulation of a plan on an array.
    pub fn of(plan: PathBuf, array: String, output: PathBuf) -> Self {
        Self {
            plan,
            array,
            what_if: Vec::new(),
            cache: None,
            fleet: false,
            server: FleetServerFlags::default(),
            level: LevelFlag::Auto,
            each_folder: false,
            events: Vec::new(),
            shared_array: false,
            rebuild_rate: None,
            test: None,
            duration: None,
            threads: None,
            target_iops: None,
            rest: 0,
            seed: None,
            seeds: 1,
            output: Some(output),
            identity: IdentityFlags { name: None, tags: Vec::new() },
            json: false,
            is_part: true,
            is_host_of_deployment: false,
        }
    }
}
