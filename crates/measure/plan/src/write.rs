//! Converts a plan back to a document, for the manifest next to the databases and for the record.

use units::Bytes;

use crate::low::{self, Document};
use crate::model::{Database, FlashCachePlan, Plan, Sessions};
use crate::reader::{Given, NumberOrAuto, given};

impl Plan {
    /// TOML text that [`Plan::parse`] reads back as an equal plan, with every value spelled out.
    pub fn to_toml(&self) -> String {
        self.document().write()
    }

    fn document(&self) -> Document {
        let (databases, listed) = self.where_databases_live();
        let mailboxes = self.mailboxes.map(|mailboxes| low::LowMailboxes {
            count: Some(number(mailboxes.count)),
            iops_each: Some(given(mailboxes.iops_each)),
            size: Some(given(mailboxes.size)),
            headroom: Some(number(mailboxes.headroom_percent)),
            ..Default::default()
        });
        Document {
            head: low::Head {
                name: Some(given(self.name.clone())),
                description: Some(given(self.description.clone())),
                seed: Some(given(self.seed.0.into())),
                preset: Some(given(self.preset.to_string())),
            },
            mailboxes,
            databases,
            listed,
            engine: low::Engine {
                cache_minimum: Some(given(self.cache.minimum)),
                cache_maximum: Some(given(self.cache.maximum)),
                checkpoint_depth: Some(given(self.checkpoint_depth)),
                log_segment: Some(given(match self.log_segment {
                    None => NumberOrAuto::Auto,
                    Some(bytes) => NumberOrAuto::Number(bytes.0.into()),
                })),
            },
            flash_cache: self.flash_cache.as_ref().map(flash_cache),
            workload: self.load(),
            test: self.what_is_run(),
            limits: self.limits.to_low(),
        }
    }

    /// Repeated folders come from dealing out, so dealing out the distinct ones restores them.
    fn where_databases_live(&self) -> (low::Databases, Vec<low::Listed>) {
        let all = &self.databases;
        let folders = distinct(all.iter().map(|database| &database.folder));
        let mut section = low::Databases {
            size: Some(given(self.size)),
            capacity_percent: self.capacity_percent.map(number),
            page_size: Some(given(self.page_size)),
            volumes: volumes(all),
            ..Default::default()
        };
        if folders.len() < all.len() {
            section.folders = Some(folders);
            section.log_folders = Some(distinct(all.iter().map(|database| &database.log_folder)));
            let backups = distinct(all.iter().filter_map(|of| of.backup_folder.as_ref()));
            section.backup_folders = Some(backups).filter(|backups| !backups.is_empty());
            if all.iter().any(Database::has_weight) {
                section.weights = Some(all.iter().map(|of| given(of.weight)).collect());
            }
            section.count = Some(given(all.len() as i128));
            return (section, Vec::new());
        }
        let listed = all.iter().map(|database| low::Listed {
            folder: Some(given(database.folder.clone())),
            log_folder: Some(given(database.log_folder.clone())),
            backup_folder: database.backup_folder.clone().map(given),
            weight: database.has_weight().then(|| given(database.weight)),
            ..Default::default()
        });
        (section, listed.collect())
    }

    fn load(&self) -> low::Workload {
        let workload = &self.workload;
        low::Workload {
            threads: Some(given(match workload.sessions {
                Sessions::Auto => NumberOrAuto::Auto,
                Sessions::Count(count) => NumberOrAuto::Number(count.into()),
            })),
            target_iops: workload.target_iops.map(number),
            throughput_percent: workload.throughput_percent.map(number),
            hours: workload.day.map(|day| day.percent().map(given).to_vec()),
            insert: Some(number(workload.mix.insert)),
            delete: Some(number(workload.mix.delete)),
            replace: Some(number(workload.mix.replace)),
            lazy_commits: Some(number(workload.mix.lazy_commits)),
            batch_updates: Some(number(workload.batch_updates)),
            commits_per_batch: Some(number(workload.commits_per_batch)),
            short_pad: Some(given(Bytes(workload.short_pad_bytes.into()))),
            long_pad: Some(given(Bytes(workload.long_pad_bytes.into()))),
            compressible: Some(number(workload.compressible_percent)),
            repeated: Some(number(workload.repeated_percent)),
            zipf_theta: Some(given(workload.zipf_theta)),
        }
    }

    fn what_is_run(&self) -> low::Test {
        let test = &self.test;
        low::Test {
            kind: Some(given(test.kind.to_string())),
            duration: Some(given(test.duration)),
            performance_duration: test.of_kinds.performance.map(given),
            stress_duration: test.of_kinds.stress.map(given),
            warm_up_limit: Some(given(test.warm_up_limit)),
            warm_up: Some(given(test.warm_up.name().to_owned())),
            interval: Some(given(test.interval)),
            give_up: Some(given(test.give_up)),
            finish: test.finish.map(given),
            copies: Some(number(test.copies)),
            replay_logs: Some(number(test.replay_logs)),
            passive_copy: test.passive_copy.map(given),
            checksum: Some(given(test.checksum)),
            maintenance: Some(given(test.maintenance_throttle.is_some())),
            maintenance_throttle: test.maintenance_throttle.map(given),
        }
    }
}

/// The volumes of all folders, unless each folder is one.
fn volumes(databases: &[Database]) -> Option<Vec<Given<String>>> {
    let mut places = databases.iter();
    let is_shared = places
        .any(|of| is_below(&of.folder, &of.volume) || is_below(&of.log_folder, &of.log_volume));
    let all = databases.iter().flat_map(|of| [&of.volume, &of.log_volume]);
    is_shared.then(|| distinct(all))
}

fn is_below(folder: &str, volume: &str) -> bool {
    let rest = folder.strip_prefix(volume);
    rest.is_some_and(|rest| !rest.trim_matches(['/', '\\']).is_empty())
}

fn flash_cache(cache: &FlashCachePlan) -> low::LowFlashCache {
    low::LowFlashCache {
        file: Some(given(cache.file.clone())),
        size: Some(given(cache.size)),
        folders: Some(cache.folders.iter().cloned().map(given).collect()),
        write_limit: cache.write_limit.map(given),
        ..Default::default()
    }
}

fn number(value: u32) -> Given<i128> {
    given(value.into())
}

/// The distinct texts in order of first appearance.
fn distinct<'a>(texts: impl Iterator<Item = &'a String>) -> Vec<Given<String>> {
    let mut distinct: Vec<Given<String>> = Vec::new();
    for text in texts {
        if !distinct.iter().any(|known| known.value == *text) {
            distinct.push(given(text.clone()));
        }
    }
    distinct
}
