//! The first line of a journal: the run, its machine and its settings.

use std::path::{Path, PathBuf};

use device_os::probe::Caching;
use ese::header::WRITTEN_FORMAT;
use plan::Plan;
use record::{DatabaseFacts, Start, VolumeFacts, codec};
use units::Nanos;

use crate::error::HostError;
use crate::look::{self, Outputs};
use crate::{system, target, version, wire};

/// The facts of a run of `plan`, started by `command` with `options`, on this many threads and at
/// this epoch, with these findings on controllers.
pub(super) fn start(
    plan: &Plan,
    (command, options): (String, Vec<(String, String)>),
    (executors, epoch): (u32, Nanos),
    outputs: &Outputs,
) -> Result<Start, HostError> {
    let (version, update) = WRITTEN_FORMAT;
    let world = wire::world()?;
    let databases = plan.databases.iter().map(|database| database_facts(&world, plan, database));
    Ok(Start {
        schema: codec::SCHEMA,
        build: version::PROGRAM.to_owned(),
        database_format: format!("ESE {version:#x},{update},0"),
        started_epoch_ns: epoch.0,
        machine: system::machine(world.backend().to_string()),
        seed: plan.seed.0,
        test: trial::test_type(plan),
        name: plan.name.clone(),
        tags: Vec::new(),
        description: plan.description.clone(),
        command,
        options,
        set: Vec::new(),
        plan_text: plan.to_toml(),
        settings: trial::record_settings(plan, executors),
        databases: databases.collect::<Result<_, _>>()?,
        processors_before: None,
        imported: None,
        simulated: None,
        storage: look::at(&folders(plan), outputs)?,
    })
}

/// The folders of databases and logs, each once.
fn folders(plan: &Plan) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    for database in &plan.databases {
        folders.extend([PathBuf::from(&database.folder), PathBuf::from(&database.log_folder)]);
        folders.extend(plan.backup_folder(database).map(PathBuf::from));
    }
    folders.sort();
    folders.dedup();
    folders
}

fn database_facts(
    world: &device_os::World,
    plan: &Plan,
    database: &plan::Database,
) -> Result<DatabaseFacts, HostError> {
    let (folder, log_folder) = (Path::new(&database.folder), Path::new(&database.log_folder));
    let file = folder.join(&database.file);
    // Both must exist and accept unbuffered requests; otherwise the error names the remedy.
    wire::volume(world, folder)?;
    wire::volume(world, log_folder)?;
    let backup = plan.backup_folder(database).map(Path::new);
    if let Some(backup) = backup {
        wire::volume(world, backup)?;
    }
    Ok(DatabaseFacts {
        index: database.index,
        name: database.file.trim_end_matches(".edb").to_owned(),
        file: file.display().to_string(),
        log_folder: database.log_folder.clone(),
        initial_bytes: target::length(&file).unwrap_or(0),
        volume: volume_facts(folder)?,
        log_volume: volume_facts(log_folder)?,
        backup_file: backup.map(|folder| folder.join(&database.file).display().to_string()),
        weight: plan.weight(database),
    })
}

fn volume_facts(folder: &Path) -> Result<VolumeFacts, HostError> {
    let facts = target::facts(folder)?;
    let disk = facts.disk.unwrap_or_default();
    let (cached, caching_unknown) = match facts.caching {
        Caching::None => (None, None),
        Caching::InFileSystem(why) | Caching::Below(why) => (Some(why), None),
        Caching::Unknown(why) => (None, Some(why)),
    };
    let cache =
        disk.volatile_cache.map(|volatile| if volatile { "write back" } else { "write through" });
    Ok(VolumeFacts {
        mount: facts.mount_point,
        device: facts.source,
        model: disk.model.unwrap_or_default(),
        file_system: facts.file_system,
        size_bytes: facts.total_bytes,
        free_bytes: facts.free_bytes,
        sector_bytes: disk.physical_sector,
        rotational: disk.rotational,
        write_cache: cache.map(str::to_owned),
        unbuffered: cached.is_none(),
        cached,
        caching_unknown,
        durable_writes: Some(facts.durable_writes.to_string()),
        io_limits: facts.io_limits.iter().map(ToString::to_string).collect(),
        space_limits: facts.space_limits.iter().map(ToString::to_string).collect(),
    })
}
