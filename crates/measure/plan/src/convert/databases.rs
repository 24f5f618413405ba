//! Location of a plan's databases and each one's share of the load: distributed over folders, or
//! listed one by one.

use std::collections::BTreeSet;

use super::Check;
use crate::complaint::Problem;
use crate::low;
use crate::model::{Database, DatabasePlace};
use crate::reader::Given;

/// Smallest and largest weight of a share of the load.
const WEIGHTS: (f64, f64) = (0.01, 100.0);

impl Check<'_> {
    pub(super) fn databases(
        &mut self,
        section: &low::Databases,
        listed: &[low::Listed],
    ) -> Option<Vec<Database>> {
        let places = match (&section.folders, listed) {
            (Some(folders), []) => self.dealt(section, folders)?,
            (None, []) => {
                self.missing(
                    &section.place,
                    "folders",
                    "`folders = [\"/mnt/disk1\"]` to [databases]",
                );
                return None;
            }
            (Some(_), [first, ..]) => {
                let way_out = "give either [databases] folders or [[database]] sections, not both";
                self.conflict(&first.place, way_out);
                return None;
            }
            (None, listed) => self.listed(section, listed)?,
        };
        let mut databases = Vec::new();
        databases.extend((0..).zip(places).map(|(index, place)| Database::new(index, place)));
        self.mount(section.volumes.as_deref().unwrap_or_default(), &mut databases);
        Some(databases)
    }

    /// Notes the volume of each folder; complains about volumes that hold none.
    fn mount(&mut self, volumes: &[Given<String>], databases: &mut Vec<Database>) {
        self.each_once(volumes);
        let names: Vec<&str> = volumes.iter().map(|of| plain(&of.value)).collect();
        for database in &mut *databases {
            for (folder, volume) in [
                (&database.folder, &mut database.volume),
                (&database.log_folder, &mut database.log_volume),
            ] {
                volume_of(folder, &names).clone_into(volume);
            }
        }
        for given in volumes {
            let name = plain(&given.value);
            if !databases.iter().any(|of| of.volume == name || of.log_volume == name) {
                let message = "holds no database and no log of this plan; leave it out";
                self.conflict(&given.place, message);
            }
        }
    }

    /// Deals `count` databases out to the folders in turn.
    fn dealt(
        &mut self,
        section: &low::Databases,
        folders: &[Given<String>],
    ) -> Option<Vec<DatabasePlace>> {
        let logs = section.log_folders.as_deref().unwrap_or(folders);
        let backups = section.backup_folders.as_deref().unwrap_or_default();
        self.each_once(folders);
        if section.log_folders.is_some() {
            self.each_once(logs);
        }
        self.each_once(backups);
        self.apart(folders.iter().chain(logs), backups);
        if folders.is_empty() || logs.is_empty() {
            self.missing(&section.place, "", "at least one folder: `folders = [\"/mnt/disk1\"]`");
            return None;
        }
        let bounds = (1, Database::MOST);
        let default = u32::try_from(folders.len()).unwrap_or(u32::MAX);
        let count = self.number(section.count.as_ref(), default, bounds);
        if count > Database::MOST {
            self.conflict(&section.place, "one plan holds at most 256 databases; split it");
            return None;
        }
        let weights = self.weights(section, count);
        let places = (0..count as usize).map(|index| DatabasePlace {
            folder: nth(folders, index).expect("invariant: there is a folder"),
            log_folder: nth(logs, index).expect("invariant: there is a folder"),
            backup_folder: nth(backups, index),
            weight: weights[index % weights.len()],
        });
        Some(places.collect())
    }

    /// The weights of `count` databases, in turn; at least one.
    fn weights(&mut self, section: &low::Databases, count: u32) -> Vec<f64> {
        let given = section.weights.as_deref().unwrap_or_default();
        if let Some(surplus) = given.get(count as usize) {
            let message = format!("has more weights than the plan has databases ({count})");
            self.conflict(&surplus.place, message);
        }
        let mut weights = vec![1.0; usize::from(given.is_empty())];
        for weight in given {
            weights.push(self.within(Some(weight), 1.0, WEIGHTS));
        }
        weights
    }

    fn listed(
        &mut self,
        section: &low::Databases,
        listed: &[low::Listed],
    ) -> Option<Vec<DatabasePlace>> {
        self.only_with_folders(section);
        if listed.len() > Database::MOST as usize {
            self.conflict(&section.place, "one plan holds at most 256 databases; split it");
            return None;
        }
        let (mut folders, mut logs, mut backups) = (Vec::new(), Vec::new(), Vec::new());
        let mut places = Vec::new();
        for database in listed {
            let Some(folder) = &database.folder else {
                self.missing(&database.place, "folder", "`folder = \"/mnt/disk1\"` to it");
                continue;
            };
            let log = database.log_folder.as_ref().unwrap_or(folder);
            folders.push(folder.clone());
            logs.push(log.clone());
            backups.extend(database.backup_folder.clone());
            places.push(DatabasePlace {
                folder: folder.value.clone(),
                log_folder: log.value.clone(),
                backup_folder: database.backup_folder.as_ref().map(|given| given.value.clone()),
                weight: self.within(database.weight.as_ref(), 1.0, WEIGHTS),
            });
        }
        self.each_once(&folders);
        for backup in &backups {
            self.is_name(backup);
        }
        self.apart(folders.iter().chain(&logs), &backups);
        (places.len() == listed.len()).then_some(places)
    }

    /// Complains about keys that have a counterpart in `[[database]]`.
    fn only_with_folders(&mut self, section: &low::Databases) {
        if let Some(count) = &section.count {
            let message = "goes with `folders`; [[database]] sections count themselves";
            self.conflict(&count.place, message);
        }
        let (logs, backups) = (&section.log_folders, &section.backup_folders);
        for (list, twin) in [(logs, "log_folder"), (backups, "backup_folder")] {
            if let Some(first) = list.iter().flatten().next() {
                let message = format!("goes with `folders`; write `{twin}` in [[database]]");
                self.conflict(&first.place, message);
            }
        }
        if let Some(first) = section.weights.iter().flatten().next() {
            self.conflict(&first.place, "goes with `folders`; write `weight` in [[database]]");
        }
    }

    /// Complains about empty and repeated folders; `/a` and `/a/` are the same.
    fn each_once(&mut self, folders: &[Given<String>]) {
        for (index, folder) in folders.iter().enumerate() {
            if !self.is_name(folder) {
                continue;
            }
            let mut earlier = folders[..index].iter();
            let first = earlier.find(|earlier| plain(&earlier.value) == plain(&folder.value));
            if let Some(first) = first {
                self.complaints.push(folder.place.complaint(Problem::Repeated {
                    folder: folder.value.clone(),
                    first_line: first.place.line,
                }));
            }
        }
    }

    /// Complains about copy folders that hold databases or logs.
    fn apart<'a>(
        &mut self,
        of_databases: impl Iterator<Item = &'a Given<String>>,
        backups: &[Given<String>],
    ) {
        let taken: BTreeSet<&str> = of_databases.map(|folder| plain(&folder.value)).collect();
        for backup in backups {
            if taken.contains(plain(&backup.value)) {
                let message = format!(
                    "`{}` holds a database or its log; name a folder for the copies alone",
                    backup.value
                );
                self.conflict(&backup.place, message);
            }
        }
    }

    /// Whether a folder may have this name; complains if not.
    fn is_name(&mut self, folder: &Given<String>) -> bool {
        let is_name = !folder.value.trim().is_empty() && !folder.value.contains('\0');
        if !is_name {
            self.conflict(&folder.place, "is not a folder's name; write the path of a folder");
        }
        is_name
    }
}

/// The innermost of `volumes` that holds `folder`, or the folder itself.
fn volume_of<'a>(folder: &'a str, volumes: &[&'a str]) -> &'a str {
    let plain = plain(folder);
    let holding = volumes.iter().filter(|volume| {
        let rest = plain.strip_prefix(**volume);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
    });
    let innermost = holding.max_by_key(|volume| volume.len());
    let itself = if plain.is_empty() { folder } else { plain };
    innermost.copied().unwrap_or(itself)
}

fn plain(folder: &str) -> &str {
    folder.trim_end_matches(['/', '\\'])
}

/// The folder assigned to number `index`; `None` if there is no folder.
fn nth(folders: &[Given<String>], index: usize) -> Option<String> {
    let turn = index.checked_rem(folders.len())?;
    Some(folders[turn].value.clone())
}

#[cfg(test)]
mod tests {
    use crate::Plan;

    fn volumes(head: &str, folders: &str) -> Result<Vec<(String, String)>, String> {
        let text = format!("[databases]\nsize = \"1GiB\"\n{head}\n{folders}");
        let plan = Plan::parse("p", &text).map_err(|error| error.to_string())?;
        let again = Plan::parse("again", &plan.to_toml()).map_err(|error| error.to_string())?;
        assert_eq!(again, plan);
        Ok(plan.databases.into_iter().map(|of| (of.volume, of.log_volume)).collect())
    }

    #[test]
    fn a_folder_is_on_the_innermost_volume_that_holds_it() {
        let folders = "folders = [\"/m/1/a\", \"/m/1/b\", \"/m/10/c\", \"/m/1/in/d\"]";
        let own = volumes("", folders).expect("a plan");
        assert_eq!(own[2], ("/m/10/c".to_owned(), "/m/10/c".to_owned()));
        let found = volumes("volumes = [\"/m/1/\", \"/m/1/in\"]", folders).expect("a plan");
        let found: Vec<&str> = found.iter().map(|(volume, _)| &**volume).collect();
        assert_eq!(found, ["/m/1", "/m/1", "/m/10/c", "/m/1/in"]);
    }

    #[test]
    fn a_listed_database_has_a_volume_for_its_log() {
        let listed = "[[database]]\nfolder = \"V\\\\DB1\"\nlog_folder = \"L\\\\DB1\"\n";
        let found = volumes("volumes = [\"V\", \"L\"]", listed).expect("a plan");
        assert_eq!(found, [("V".to_owned(), "L".to_owned())]);
    }

    #[test]
    fn a_volume_without_a_folder_is_refused() {
        let error = volumes("volumes = [\"/x\"]", "folders = [\"/m/1\"]").expect_err("a typo");
        assert!(error.contains("volumes") && error.contains("holds no database"), "{error}");
    }
}
