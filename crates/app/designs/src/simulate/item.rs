//! One simulation of a sweep, described so completely that any host can run it.

use std::path::Path;

use blueprint::PredictionFigures;
use fleet::SimulationItem;
use host::simulate::{self, SimulatedStorage, SimulationOrder};
use host::{HostError, Measured, StopFlag, version};
use plan::Plan;
use simdisk::ArrayDescription;
use simdisk::operations::OperationProfile;

use console::error::CommandError;

/// Identifies the program: by its commit, or for a development build by its executable file.
pub fn build() -> String {
    let is_released = !version::DATE.is_empty() && !version::VERSION.contains("+changes");
    let own = std::env::current_exe().and_then(std::fs::metadata);
    let facts = own.ok().filter(|_| !is_released).map(|facts| {
        let changed = facts.modified().ok().map(|at| format!("{at:?}"));
        format!(" {} {}", facts.len(), changed.unwrap_or_default())
    });
    format!("{}{}", version::PROGRAM, facts.unwrap_or_default())
}

/// The profile of an item's load, measured once for items of the same plan.
#[derive(Default)]
pub struct LoadProfiles(Option<(String, OperationProfile)>);

impl LoadProfiles {
    fn of(&mut self, item: &SimulationItem, plan: &Plan) -> Result<OperationProfile, CommandError> {
        if let Some((text, profile)) = &self.0
            && *text == item.plan
        {
            return Ok(profile.clone());
        }
        let profile = simulate::measured_profile(plan)?;
        self.0 = Some((item.plan.clone(), profile.clone()));
        Ok(profile)
    }
}

/// Simulates an item in `folder`, which is then removed; returns its figures in their stored form.
pub fn figures(
    item: &SimulationItem,
    profiles: &mut LoadProfiles,
    (folder, stop): (&Path, &StopFlag),
) -> Result<String, CommandError> {
    let plan = Plan::parse("the plan of a sweep", &item.plan)?;
    let array = ArrayDescription::parse(&item.array_file, &item.array, &item.changes)
        .map_err(|error| CommandError::new(error.to_string()))?;
    let profile = item.is_by_operations.then(|| profiles.of(item, &plan)).transpose()?;
    let order = SimulationOrder {
        plan: &plan,
        storage: &SimulatedStorage { array, is_each_folder: item.is_each_folder },
        profile: profile.as_ref(),
        rest_percent: item.rest_percent,
        seed: plan.seed,
        command: String::new(),
        // This option marks the record of a run on several arrays.
        options: [("--each-folder".to_owned(), String::new())]
            .into_iter()
            .filter(|_| item.is_each_folder)
            .collect(),
        tags: &[],
        folder,
    };
    let figures = match simulate::simulate(&order, stop, |_| ()) {
        Ok(Measured { record, verdict, .. }) => PredictionFigures::of(&record, &verdict),
        Err(HostError::Design(why)) => PredictionFigures::impossible(&why),
        Err(error) => return Err(error.into()),
    };
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(CommandError::of_file(folder, "remove"))?;
    }
    Ok(serde_json::to_string(&figures)?)
}
