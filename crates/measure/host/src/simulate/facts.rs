//! The first line of the journal of a simulated run. It names no machine and no date: the same seed
//! gives the same journal everywhere.

use crate::version;
use ese::header::WRITTEN_FORMAT;
use plan::Plan;
use record::{
    DatabaseFacts, Machine, Settings, Simulation, SimulationDetail, Start, VolumeFacts, codec,
};
use units::Nanos;

use super::SimulationOrder;

/// The facts of a run of `plan`: the order's plan, which level 1 scales down.
pub(super) fn start(order: &SimulationOrder<'_>, plan: &Plan, stretch: f64, epoch: Nanos) -> Start {
    let (version, update) = WRITTEN_FORMAT;
    let machine = Machine {
        name: "simulated".to_owned(),
        operating_system: "none: virtual time".to_owned(),
        processor: processors(order),
        input_output: "simulated".to_owned(),
        ..Machine::default()
    };
    Start {
        schema: codec::SCHEMA,
        build: version::PROGRAM.to_owned(),
        database_format: format!("ESE {version:#x},{update},0"),
        started_epoch_ns: epoch.0,
        machine,
        seed: plan.seed.0,
        test: trial::test_type(plan),
        name: plan.name.clone(),
        tags: order.tags.to_vec(),
        description: plan.description.clone(),
        command: order.command.clone(),
        options: order.options.clone(),
        set: Vec::new(),
        plan_text: order.plan.to_toml(),
        settings: settings(order, plan),
        databases: plan.databases.iter().map(|of| database_facts(plan, of)).collect(),
        processors_before: None,
        imported: None,
        simulated: Some(Box::new(Simulation {
            seed: order.seed.0,
            stretch,
            detail: order
                .profile
                .map_or(SimulationDetail::Engine, |_| SimulationDetail::Operations),
            ..order.storage.simulation(order.plan)
        })),
        storage: Vec::new(),
    }
}

/// Only level 2 follows the daily load curve.
fn settings(order: &SimulationOrder<'_>, plan: &Plan) -> Settings {
    let day = plan.workload.day.filter(|_| order.profile.is_some());
    Settings {
        hourly_percent: day
            .map_or_else(Vec::new, |day| day.measured_percent(plan.test.duration).to_vec()),
        ..trial::record_settings(plan, 1)
    }
}

/// Describes the processor cost of transactions.
fn processors(order: &SimulationOrder<'_>) -> String {
    let host = order.storage.array.host;
    if host.processors == 0 {
        return "none: processor time is not simulated".to_owned();
    }
    format!(
        "{} simulated ones: {} us for a change, {} us for a transaction",
        host.processors, host.update_us, host.commit_us
    )
}

fn database_facts(plan: &Plan, database: &plan::Database) -> DatabaseFacts {
    DatabaseFacts {
        backup_file: None,
        weight: plan.weight(database),
        index: database.index,
        name: database.file.trim_end_matches(".edb").to_owned(),
        file: format!("{}/{}", database.folder, database.file),
        log_folder: database.log_folder.clone(),
        initial_bytes: plan.size.0,
        volume: volume_facts(&database.volume),
        log_volume: volume_facts(&database.log_volume),
    }
}

fn volume_facts(mount: &str) -> VolumeFacts {
    VolumeFacts {
        mount: mount.to_owned(),
        device: "simulated".to_owned(),
        file_system: "none".to_owned(),
        unbuffered: true,
        ..VolumeFacts::default()
    }
}
