//! Inspects the storage under folders by judging reports from the system and from controllers.

pub mod layout;
mod lun;
mod measured;
mod places;
mod tools;

pub use lun::facts as lun_facts;
pub use measured::{MeasureOrder, refuse};
pub use places::{Places, places};

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use device_net::IscsiPortal;
use device_os::probe::{BlockDevice, VolumeFacts};
use inspection::StoragePlace;
use inspection::controller::{
    Controller, OutputSource, Tool, UnreadLine, leaves_open, merged, not_understood, of_controller,
    read,
};
use inspection::lun::{LunFacts, of_lun};
use record::StorageFinding;

use crate::documents;
use crate::error::HostError;
use crate::observer::HostObserver;
use crate::stop::StopFlag;
use crate::target;

/// The outputs of controllers' tools, and the reasons why others gave none.
#[derive(Default)]
pub struct Outputs {
    controllers: Vec<Controller>,
    /// Installed tools that failed, each with its error.
    silent: Vec<(String, String)>,
    /// Lines that could not be parsed.
    unread: Vec<StorageFinding>,
    /// Files that were read.
    pub files: Vec<OutputFile>,
}

/// A saved output.
pub struct OutputFile {
    /// Path of the file.
    pub path: PathBuf,
    /// When it was written, if the file system records it.
    pub saved: Option<SystemTime>,
    /// Lines that could not be parsed.
    pub unread: Vec<UnreadLine>,
}

impl Outputs {
    /// Collects the outputs of the tools installed here, using read-only queries.
    pub fn installed() -> Self {
        let tools::Answers { controllers, silent, unread } = tools::ask();
        // Within one machine a controller's number identifies it.
        let told = OutputSource { source: "this machine".to_owned(), controllers };
        Self { controllers: merged(vec![told]), silent, unread, files: Vec::new() }
    }

    /// Outputs from saved files.
    pub fn saved(paths: &[PathBuf]) -> Result<Self, HostError> {
        let (mut told, mut unread, mut files) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            let name = path.display().to_string();
            let output = read(&documents::read_output(path)?)
                .map_err(|error| HostError::new(format!("{name}: {error}")))?;
            unread.extend(not_understood(&name, &output.unread));
            let saved = fs::metadata(path).and_then(|facts| facts.modified()).ok();
            files.push(OutputFile { path: path.clone(), saved, unread: output.unread });
            told.push(OutputSource { source: name, controllers: output.controllers });
        }
        Ok(Self { controllers: merged(told), silent: Vec::new(), unread, files })
    }

    fn findings(&self) -> Vec<StorageFinding> {
        let silent = self.silent.iter();
        let silent = silent.map(|(tool, why)| inspection::controller::silent(tool, why));
        self.of_controllers().into_iter().chain(silent).collect()
    }

    fn of_controllers(&self) -> Vec<StorageFinding> {
        self.controllers.iter().flat_map(of_controller).chain(self.unread.iter().cloned()).collect()
    }

    /// Whether the outputs are inconclusive: evidence is missing, contradictory or unparsed.
    pub fn leave_open(&self) -> bool {
        let found = self.of_controllers();
        let is_described = self.controllers.is_empty()
            || found.iter().any(|finding| finding.check == "drive-state")
            || self.controllers.iter().any(|of| of.tool == Tool::Nvme);
        !is_described || found.iter().any(leaves_open)
    }
}

/// Findings on `folders`, all of which must exist, and on the controllers.
pub(crate) fn at(folders: &[PathBuf], outputs: &Outputs) -> Result<Vec<StorageFinding>, HostError> {
    let known =
        folders.iter().map(|folder| StorageFacts::of(folder)).collect::<Result<Vec<_>, _>>()?;
    Ok(of_known(&known, outputs))
}

/// Facts about one folder.
pub struct StorageFacts {
    name: String,
    /// The volume that holds it.
    pub volume: VolumeFacts,
    devices: Vec<BlockDevice>,
    /// Facts from the login, if it is on a LUN.
    lun: Option<LunFacts>,
}

impl StorageFacts {
    /// Asks system and devices.
    pub(crate) fn of(folder: &Path) -> Result<Self, HostError> {
        Self::with_portals(folder, &[])
    }

    /// The same for a LUN known to be at other portals too.
    fn with_portals(folder: &Path, others: &[IscsiPortal]) -> Result<Self, HostError> {
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
    /// Behaviour of writes to the folder, compared with the claims about it.
    pub fn measured(
        &self,
        folder: &Path,
        order: MeasureOrder,
        stop: &StopFlag,
        observer: &HostObserver,
    ) -> Result<Vec<StorageFinding>, HostError> {
        let samples = measured::writes(folder, order, stop, observer)?;
        Ok(inspection::finding_of(&self.name, &self.devices, &samples))
    }
}

/// Findings on places that have been inspected.
pub fn of_known(known: &[StorageFacts], outputs: &Outputs) -> Vec<StorageFinding> {
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
