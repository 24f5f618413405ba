//! A look at the storage under folders: what system and controllers tell, judged.

pub(crate) mod layout;
mod lun;
mod measured;
mod places;
mod tools;

pub(crate) use lun::facts as lun_facts;
pub(crate) use measured::{MeasureOrder, refuse};
pub(crate) use places::{Places, places};

use std::path::{Path, PathBuf};

use device_net::IscsiPortal;
use device_os::probe::{BlockDevice, VolumeFacts};
use inspection::StoragePlace;
use inspection::controller::{Controller, merged, of_controller, read};
use inspection::lun::{LunFacts, of_lun};
use record::StorageFinding;

use crate::documents;
use crate::error::CommandError;
use crate::signals::StopFlag;
use crate::target;

/// What controllers say of themselves, and what kept others from it.
#[derive(Default)]
pub(crate) struct Outputs {
    controllers: Vec<Controller>,
    /// Tools that are here and did not answer, with their words.
    silent: Vec<(String, String)>,
}

impl Outputs {
    /// Of the tools that are installed here. They are asked for what is, and set nothing.
    pub(crate) fn installed() -> Self {
        let (controllers, silent) = tools::ask();
        Self { controllers: merged(controllers), silent }
    }

    /// Of saved files.
    pub(crate) fn saved(files: &[PathBuf]) -> Result<Self, CommandError> {
        let mut controllers = Vec::new();
        for file in files {
            let bytes = documents::read_document(file)?;
            let text = String::from_utf8_lossy(&bytes);
            let told = read(&text)
                .map_err(|error| CommandError::new(format!("{}: {error}", file.display())))?;
            controllers.extend(told);
        }
        Ok(Self { controllers: merged(controllers), silent: Vec::new() })
    }

    fn findings(&self) -> Vec<StorageFinding> {
        let told = self.controllers.iter().flat_map(of_controller);
        let silent = self.silent.iter();
        told.chain(silent.map(|(tool, why)| inspection::controller::silent(tool, why))).collect()
    }
}

/// What was found under `folders`, all of which must exist, and of the controllers.
pub(crate) fn at(
    folders: &[PathBuf],
    outputs: &Outputs,
) -> Result<Vec<StorageFinding>, CommandError> {
    let known =
        folders.iter().map(|folder| StorageFacts::of(folder)).collect::<Result<Vec<_>, _>>()?;
    Ok(of_known(&known, outputs))
}

/// What is known of one folder.
pub(crate) struct StorageFacts {
    name: String,
    /// The volume that holds it.
    pub volume: VolumeFacts,
    devices: Vec<BlockDevice>,
    /// What a login shows, where it is on a LUN.
    lun: Option<LunFacts>,
}

impl StorageFacts {
    /// Asks system and devices.
    pub(crate) fn of(folder: &Path) -> Result<Self, CommandError> {
        Self::with_portals(folder, &[])
    }

    /// The same of a LUN that is known to be at other portals, too.
    fn with_portals(folder: &Path, others: &[IscsiPortal]) -> Result<Self, CommandError> {
        let lun = target::lun(folder);
        Ok(Self {
            name: folder.display().to_string(),
            volume: target::facts(folder)?,
            devices: target::devices(folder)?,
            lun: lun
                .map(|(address, name)| {
                    let initiator = target::initiator(&address.portal, address.user.as_deref())?;
                    lun_facts(&address, &name, &initiator, others)
                })
                .transpose()?,
        })
    }
}

impl StorageFacts {
    /// What writes to the folder meet, set against what was said of it.
    pub(crate) fn measured(
        &self,
        folder: &Path,
        order: MeasureOrder,
        stop: &StopFlag,
        quiet: bool,
    ) -> Result<Vec<StorageFinding>, CommandError> {
        let samples = measured::writes(folder, order, stop, quiet)?;
        Ok(inspection::finding_of(&self.name, &self.devices, &samples))
    }
}

/// What was found of places that have been asked.
pub(crate) fn of_known(known: &[StorageFacts], outputs: &Outputs) -> Vec<StorageFinding> {
    let places: Vec<StoragePlace<'_>> = known
        .iter()
        .map(|of| StoragePlace { name: &of.name, volume: &of.volume, devices: &of.devices })
        .collect();
    let mut findings = inspection::together(&places);
    findings.extend(known.iter().filter_map(|of| of.lun.as_ref()).flat_map(of_lun));
    findings.extend(outputs.findings());
    let is_told = !outputs.controllers.is_empty() || !outputs.silent.is_empty();
    findings.extend(inspection::controller::untold(&places, is_told));
    findings
}
