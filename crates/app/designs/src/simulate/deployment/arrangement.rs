//! A deployment ready to be played, and the choice of its arrays and load.

use std::collections::BTreeMap;

use host::simulate::played::paced_profile;
use host::simulate::scan;
use host::simulate::{SimulatedStorage, SimulationLevel, SimulationOrder};
use plan::Plan;
use plan::deployment::assumption_in;
use record::SimulationDetail;
use rehearsal::PlayedDeployment;
use simdisk::ArrayDescription;
use simdisk::operations::{OperationProfile, ScanShape};

use console::error::CommandError;

/// A deployment ready to be played, and the plan of each of its hosts.
pub(crate) struct Arrangement {
    /// Its name.
    pub name: String,
    pub deployment: PlayedDeployment,
    /// The load of each of its profiles.
    pub(super) loads: Vec<Plan>,
    /// One plan per host; its databases are the host's copies in the order of the deployment's
    /// databases.
    pub plans: Vec<Plan>,
    /// The array of every host for which no other one is chosen.
    pub array: ArrayDescription,
}

impl Arrangement {
    /// Measures the profile of each load on the arrays of `choice`, which takes seconds; without
    /// profiles the deployment cannot be played.
    pub(crate) fn measured(
        mut self,
        choice: &ArrayChoice,
        rest_percent: u32,
    ) -> Result<Self, CommandError> {
        for load in &self.loads {
            self.deployment.profiles.push(profile(load, choice, rest_percent)?);
        }
        self.deployment.check()?;
        Ok(self)
    }

    /// The note on figures that were taken from another product, which the plans carry; `None` if
    /// there are none.
    pub(super) fn assumption(&self) -> Option<&str> {
        self.plans.iter().find_map(|plan| assumption_in(&plan.description))
    }

    /// The scan of background maintenance, which reads every copy, active or passive; `None` if
    /// the plans have none.
    pub(crate) fn scan(&self) -> Option<ScanShape> {
        scan(&self.plans[0])
    }
}

/// The arrays underneath the hosts' copies.
pub(crate) struct ArrayChoice {
    pub array: ArrayDescription,
    pub(crate) sharing: Sharing,
    /// Hosts with other arrays, by name.
    pub others: BTreeMap<String, (ArrayDescription, Sharing)>,
}

impl ArrayChoice {
    /// The arrays of a host.
    pub(super) fn of(&self, host: &str) -> (&ArrayDescription, Sharing) {
        let other = self.others.get(host);
        other.map_or((&self.array, self.sharing), |(array, sharing)| (array, *sharing))
    }
}

/// How hosts and folders share arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// One array for each host.
    Host,
    /// One for each volume of each host.
    Folder,
    /// One for all.
    All,
    /// One array per this number of databases of a host.
    Sets(usize),
}

/// The profile of the load of `plan` at the array's pace, with sessions that rest for a share of
/// each batch.
fn profile(
    plan: &Plan,
    choice: &ArrayChoice,
    rest_percent: u32,
) -> Result<OperationProfile, CommandError> {
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
        rest_percent,
        seed: plan.seed,
        command: String::new(),
        options: Vec::new(),
        tags: &[],
        folder: std::path::Path::new(""),
    };
    Ok(paced_profile(&order)?)
}
