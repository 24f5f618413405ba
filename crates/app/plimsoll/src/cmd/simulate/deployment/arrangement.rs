//! Databases on arrays: which array each host's copies are on, and at which bytes.

use std::collections::BTreeMap;

use host::simulate::played::{paced_profile, sessions};
use host::simulate::{SimulatedStorage, SimulationLevel, SimulationOrder};
use plan::Plan;
use record::SimulationDetail;
use rehearsal::PlayedDeployment;
use simdisk::ArrayDescription;
use simdisk::operations::{OperationPlace, OperationProfile};
use units::Bytes;

use crate::error::CommandError;

/// Room for the log of a copy, of which the oldest files are removed.
const LOG_ROOM: u64 = 16 << 30;

/// A deployment that can be played, and the plan of each of its hosts.
pub(crate) struct Arrangement {
    /// Its name.
    pub name: String,
    pub deployment: PlayedDeployment,
    /// The databases of each host's plan are its copies in the order of the deployment's databases.
    pub plans: Vec<Plan>,
    /// The array that every other one is like.
    pub array: ArrayDescription,
}

/// What the hosts' copies lie on.
pub(crate) struct ArrayChoice {
    pub array: ArrayDescription,
    pub sharing: Sharing,
    /// Hosts with other arrays, by name.
    pub others: BTreeMap<String, (ArrayDescription, Sharing)>,
}

impl ArrayChoice {
    /// The arrays of a host.
    fn of(&self, host: &str) -> (&ArrayDescription, Sharing) {
        let other = self.others.get(host);
        other.map_or((&self.array, self.sharing), |(array, sharing)| (array, *sharing))
    }
}

/// How hosts and folders share arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// One array for each host.
    Host,
    /// One for each folder of each host.
    Folder,
    /// One for all.
    All,
    /// One for each of this many databases of a host.
    Sets(usize),
}

/// Deals arrays out, and their bytes.
pub(super) struct Shelf<'a> {
    choice: &'a ArrayChoice,
    numbers: BTreeMap<(usize, usize), usize>,
    /// Each array, and the bytes of it that are taken.
    dealt: Vec<(ArrayDescription, u64)>,
}

impl<'a> Shelf<'a> {
    pub(super) fn new(choice: &'a ArrayChoice) -> Self {
        Self { choice, numbers: BTreeMap::new(), dealt: Vec::new() }
    }

    /// The bytes of a copy and its log: the `position`th of host number `host`, in its `folder`th
    /// folder.
    pub(super) fn place(
        &mut self,
        (host, name): (usize, &str),
        (position, folder): (usize, usize),
        bytes: u64,
    ) -> Result<(OperationPlace, OperationPlace), CommandError> {
        let (description, sharing) = self.choice.of(name);
        let key = match sharing {
            Sharing::All => (0, 0),
            Sharing::Host => (host, 0),
            Sharing::Folder => (host, folder),
            Sharing::Sets(each) => (host, position / each.max(1)),
        };
        let next = self.numbers.len();
        let array = *self.numbers.entry(key).or_insert(next);
        if array == self.dealt.len() {
            self.dealt.push((description.clone(), 0));
        }
        let (of, taken) = &mut self.dealt[array];
        let base = *taken;
        let log = base + bytes.next_multiple_of(1 << 20);
        *taken = log + LOG_ROOM;
        let capacity = of.capacity_bytes();
        if *taken > capacity {
            return Err(CommandError::new(format!(
                "{name}: its databases and logs take {} and more, and the array \"{}\" holds {}; \
                 simulate more or larger disks, or --each-folder",
                Bytes(*taken),
                of.name,
                Bytes(capacity)
            )));
        }
        Ok((
            OperationPlace { array, base, bytes },
            OperationPlace { array, base: log, bytes: LOG_ROOM },
        ))
    }

    /// The arrays that were dealt out.
    pub(super) fn arrays(&self) -> Vec<ArrayDescription> {
        self.dealt.iter().map(|(array, _)| array.clone()).collect()
    }
}

/// The profile of the load of `plan` at the pace of the array, and the sessions of its databases.
pub(super) fn load_of(
    plan: &Plan,
    choice: &ArrayChoice,
) -> Result<(OperationProfile, Vec<u32>), CommandError> {
    if SimulationLevel::Two.detail(plan)? != SimulationDetail::Operations {
        return Err(CommandError::new("a deployment is simulated by the operation model alone"));
    }
    let storage = SimulatedStorage {
        array: choice.array.clone(),
        is_each_folder: choice.sharing == Sharing::Folder,
    };
    let order = SimulationOrder {
        plan,
        storage: &storage,
        profile: None,
        rest_percent: 0,
        seed: plan.seed,
        command: String::new(),
        options: Vec::new(),
        tags: &[],
        folder: std::path::Path::new(""),
    };
    Ok((paced_profile(&order)?, sessions(plan)))
}
