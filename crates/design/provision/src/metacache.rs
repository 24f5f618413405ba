//! The SSDs of a server with names and numbers, and which `MetaCache` databases each holds.

use plan::Deployment;
use sizing::{Key, Sheet};

use super::names::numbered;
use super::requirements::count;
use super::{MetaCacheDisks, ProvisionError, Purpose, Volume};

impl MetaCacheDisks {
    /// The sized SSDs, if the deployment has any.
    pub(super) fn of(
        deployment: &Deployment,
        sheet: &Sheet,
    ) -> Result<Option<Self>, ProvisionError> {
        let Some(metacache) = deployment.metacache else {
            return Ok(None);
        };
        Ok(Some(Self { ssds: count(sheet, Key::MetaCacheSsdsPerServer)?, ssd: metacache.ssd }))
    }

    /// Numbers the SSDs after the disks of `volumes`; adjacent database disks share one, so that a
    /// failed SSD affects few disks.
    pub(super) fn volumes(&self, volumes: &[Volume]) -> Vec<Volume> {
        let carriers = volumes.iter();
        let carriers: Vec<&Volume> =
            carriers.filter(|volume| volume.purpose == Purpose::Databases).collect();
        let first = volumes.iter().map(|volume| volume.disk + 1).max();
        let mut ssds = Vec::new();
        for ssd in 0..self.ssds {
            let held = carriers.iter().enumerate();
            let held = held.filter(|(at, _)| at * self.ssds / carriers.len() == ssd);
            ssds.push(Volume {
                name: numbered("MCDBVol", ssd + 1, self.ssds),
                disk: first.unwrap_or(0) + ssd,
                size: self.ssd,
                purpose: Purpose::MetaCache,
                databases: held.flat_map(|(_, disk)| disk.databases.clone()).collect(),
            });
        }
        ssds
    }
}
