//! Keeps results of traces, since a trace takes seconds and depends on plan and pace alone: hosts
//! of one plan, the arrays that a design is tried on and the cases of a proof ask for the same.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use device::VolumeImage;
use plan::Plan;

use super::storage::prepared;
use crate::error::HostError;

/// Results kept of each kind; the oldest goes first. A profile takes a few megabytes.
const MOST_KEPT: usize = 8;

/// A result, locked while it is being made so that it is made once.
type MemoSlot<V> = Arc<Mutex<Option<V>>>;

/// Results of a pure function by what it was given.
pub(super) struct Memo<K, V>(Mutex<Vec<(K, MemoSlot<V>)>>);

impl<K: PartialEq, V: Clone> Memo<K, V> {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The result for `key`, made by `work` unless it is kept. Errors are not kept.
    pub(super) fn of(
        &self,
        key: K,
        work: impl FnOnce() -> Result<V, HostError>,
    ) -> Result<V, HostError> {
        let slot = self.slot(key);
        let mut kept = lock(&slot);
        if let Some(value) = &*kept {
            return Ok(value.clone());
        }
        let value = work()?;
        *kept = Some(value.clone());
        Ok(value)
    }

    fn slot(&self, key: K) -> MemoSlot<V> {
        let mut slots = lock(&self.0);
        if let Some((_, slot)) = slots.iter().find(|(known, _)| *known == key) {
            return Arc::clone(slot);
        }
        if slots.len() == MOST_KEPT {
            slots.remove(0);
        }
        let slot = MemoSlot::default();
        slots.push((key, Arc::clone(&slot)));
        slot
    }
}

/// The value is whole even after a panic: it is set in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The plan without names, which no trace depends on: folders become numbers, so that a log beside
/// its database still shares its folder.
pub(super) fn nameless(plan: &Plan) -> Plan {
    let mut nameless = plan.clone();
    nameless.name.clear();
    nameless.description.clear();
    let mut known: Vec<String> = Vec::new();
    for database in &mut nameless.databases {
        for folder in [&mut database.folder, &mut database.log_folder] {
            let number = known.iter().position(|of| of == folder).unwrap_or(known.len());
            if number == known.len() {
                known.push(folder.clone());
            }
            *folder = number.to_string();
        }
        database.volume.clone_from(&database.folder);
        database.log_volume.clone_from(&database.log_folder);
        database.backup_folder = None;
    }
    nameless
}

/// The content of each folder of a prepared plan.
type Images = BTreeMap<String, VolumeImage>;

thread_local! {
    /// The images of the last traced plan: a profile is made of three traces of one plan, and to
    /// prepare its databases took a third of the time.
    static LAST: RefCell<Option<(Plan, Images)>> = const { RefCell::new(None) };
}

/// The folders of `plan` with its databases prepared, under the names of `plan`.
pub(super) fn images(plan: &Plan) -> Result<Images, HostError> {
    let kept = LAST.with_borrow(|last| {
        let (of, images) = last.as_ref()?;
        (of == plan).then(|| images.clone())
    });
    if let Some(images) = kept {
        return Ok(images);
    }
    let images = prepared(plan, &plan.databases.iter().collect::<Vec<_>>())?;
    LAST.set(Some((plan.clone(), images.clone())));
    Ok(images)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use plan::Plan;

    use super::{MOST_KEPT, Memo, nameless};
    use crate::error::HostError;

    #[test]
    fn a_result_is_made_once_for_each_key_and_an_error_again() {
        let (memo, made) = (Memo::<usize, usize>::new(), Cell::new(0));
        let of = |key| {
            memo.of(key, || {
                made.set(made.get() + 1);
                if key == 13 { Err(HostError::new("no".to_owned())) } else { Ok(key * 2) }
            })
        };
        assert_eq!((of(1).ok(), of(1).ok(), made.get()), (Some(2), Some(2), 1));
        assert!(of(13).is_err() && of(13).is_err());
        assert_eq!(made.get(), 3);
        for key in 100..100 + MOST_KEPT {
            assert_eq!(of(key).ok(), Some(key * 2));
        }
        assert_eq!((of(1).ok(), made.get()), (Some(2), 4 + MOST_KEPT), "the oldest went");
    }

    #[test]
    fn names_make_no_difference_and_shared_folders_do() {
        let plan = |folders: &str| {
            let text = format!("[databases]\n{folders}\nsize = \"1GiB\"\n");
            nameless(&Plan::parse("test", &text).expect("a valid plan"))
        };
        let beside = plan("folders = [\"/a\"]");
        assert_eq!(beside, plan("folders = [\"/b\"]"));
        assert_ne!(beside, plan("folders = [\"/a\"]\nlog_folders = [\"/l\"]"));
    }
}
