//! Fills databases on request of a page, one plan at a time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::FillProgress;

/// The latest filling of databases, in progress or finished.
#[derive(Default)]
pub struct Fillings(Arc<Mutex<Option<Filling>>>);

struct Filling {
    began: Instant,
    progress: FillProgress,
}

impl Fillings {
    /// Calls `start` and waits on a thread for the filling of `plan` that it started. Refuses while
    /// another plan is being filled.
    pub fn begin<W>(
        &self,
        plan: &Path,
        start: impl FnOnce() -> Result<W, String>,
    ) -> Result<(), String>
    where
        W: FnOnce() -> Result<(), String> + Send + 'static,
    {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|filling| filling.progress.ended.is_none()) {
            return Err("Other databases are being prepared. Wait until they are ready.".to_owned());
        }
        let wait = start()?;
        let plan = plan.file_name().map(|name| name.to_string_lossy().into_owned());
        let began = Instant::now();
        let progress =
            FillProgress { plan: plan.unwrap_or_default(), took: began.elapsed(), ended: None };
        *latest = Some(Filling { began, progress });
        drop(latest);
        let shared = Arc::clone(&self.0);
        let named = thread::Builder::new().name("filling".to_owned());
        let waiting = named.spawn(move || {
            let ended = wait();
            let mut latest = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(filling) = &mut *latest {
                filling.progress.took = filling.began.elapsed();
                filling.progress.ended = Some(ended);
            }
        });
        waiting.map(drop).map_err(|error| format!("cannot start a thread: {error}"))
    }

    /// Progress of the latest filling.
    pub fn latest(&self) -> Option<FillProgress> {
        let latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        latest.as_ref().map(|filling| match filling.progress.ended {
            Some(_) => filling.progress.clone(),
            None => FillProgress { took: filling.began.elapsed(), ..filling.progress.clone() },
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;

    use super::Fillings;

    #[test]
    fn one_plan_is_filled_at_a_time_and_its_end_is_kept() {
        let fillings = Fillings::default();
        assert!(fillings.latest().is_none());
        let (end, ends) = mpsc::channel();
        let wait = move || ends.recv().expect("an end");
        fillings.begin(Path::new("a/b.toml"), || Ok(wait)).expect("nothing is being filled");
        let latest = fillings.latest().expect("a filling");
        assert_eq!((latest.plan.as_str(), latest.ended), ("b.toml", None));
        let second = fillings.begin(Path::new("c.toml"), || Ok(|| Ok(())));
        assert!(second.expect_err("another is in progress").contains("Wait until they are ready"));
        end.send(Err("the disk is full".to_owned())).expect("a waiter");
        while fillings.latest().is_some_and(|latest| latest.ended.is_none()) {
            std::thread::yield_now();
        }
        let ended = fillings.latest().expect("a filling").ended;
        assert_eq!(ended, Some(Err("the disk is full".to_owned())));
        fillings.begin(Path::new("c.toml"), || Ok(|| Ok(()))).expect("the first has ended");
    }

    #[test]
    fn a_filling_that_does_not_start_leaves_the_last_one() {
        let fillings = Fillings::default();
        let refused = fillings.begin(Path::new("a.toml"), || {
            Err::<fn() -> Result<(), String>, String>("no process".to_owned())
        });
        assert_eq!(refused, Err("no process".to_owned()));
        assert!(fillings.latest().is_none());
    }
}
