//! Threads that report how they end, even by a panic. The main thread waits for these reports and
//! joins the threads only if all went well: a thread whose request is stuck in the kernel never
//! ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::error::HostError;

/// Runs `body` on a detached thread.
pub fn start_thread(name: &str, body: impl FnOnce() + Send + 'static) -> Result<(), HostError> {
    let spawned = thread::Builder::new().name(name.to_owned()).spawn(body);
    spawned.map(drop).map_err(|error| {
        HostError::new(format!("cannot start a thread: {error}; end other programs"))
    })
}

/// Report of a thread.
pub(crate) enum News<M, T> {
    /// A message of a running thread.
    Told(M),
    /// The thread ended with this result; `None` if it panicked, which was reported at the time.
    Ended(Option<T>),
}

/// Sends the reports of a thread.
pub(crate) struct NewsSender<M, T> {
    sender: Sender<News<M, T>>,
}

impl<M, T> Clone for NewsSender<M, T> {
    fn clone(&self) -> Self {
        let sender = self.sender.clone();
        Self { sender }
    }
}

impl<M, T> NewsSender<M, T> {
    /// Sends a message before the end.
    pub(crate) fn tell(&self, message: M) {
        self.send(News::Told(message));
    }

    fn send(&self, news: News<M, T>) {
        // The channel only closes when the program is exiting.
        let _ = self.sender.send(news);
    }
}

/// Worker threads, and the channel on which they report.
pub(crate) struct Crew<M, T> {
    /// Number of threads started, each of which will report its end.
    pub started: usize,
    /// Why a thread could not be started, if so. Its job and those after it were dropped.
    pub refusal: Option<HostError>,
    threads: Vec<JoinHandle<()>>,
    news: Receiver<News<M, T>>,
    ended: usize,
}

impl<M: Send + 'static, T: Send + 'static> Crew<M, T> {
    /// Starts `work` for each job on a separate thread, named after its number.
    pub(crate) fn start<J: Send + 'static>(
        jobs: Vec<J>,
        work: impl Fn(J, &NewsSender<M, T>) -> T + Clone + Send + 'static,
    ) -> Self {
        let (sender, news) = mpsc::channel();
        let sender = NewsSender { sender };
        let (mut threads, mut refusal) = (Vec::new(), None);
        for (number, job) in jobs.into_iter().enumerate() {
            let (work, news) = (work.clone(), sender.clone());
            let named = thread::Builder::new().name(format!("group {number}"));
            let spawned = named.spawn(move || {
                let end = catch_unwind(AssertUnwindSafe(|| work(job, &news)));
                news.send(News::Ended(end.ok()));
            });
            match spawned {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    let sentence = format!(
                        "cannot start a thread: {error}; end other programs, or raise the limit of \
                         processes (ulimit -u, or pids.max of the control group)"
                    );
                    refusal = Some(HostError::new(sentence));
                    break;
                }
            }
        }
        Self { started: threads.len(), refusal, threads, news, ended: 0 }
    }

    /// The next report; `None` if none arrives within `wait`.
    pub(crate) fn next(&mut self, wait: Duration) -> Option<News<M, T>> {
        let news = match self.news.recv_timeout(wait) {
            Ok(news) => news,
            Err(RecvTimeoutError::Timeout) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                self.ended = self.started;
                return None;
            }
        };
        if matches!(news, News::Ended(_)) {
            self.ended += 1;
        }
        Some(news)
    }

    /// Waits until the threads have ended, since a process that exits while a thread is ending
    /// crashes under Wine. Every end must have been reported, and no thread may have an unanswered
    /// request: Linux keeps such a thread.
    pub(crate) fn join(self) {
        assert!(self.has_ended(), "a thread that has not told its end may never leave");
        for thread in self.threads {
            // A panic has been reported as the thread's end already.
            let _ = thread.join();
        }
    }

    /// Whether every thread has reported its end.
    pub(crate) const fn has_ended(&self) -> bool {
        self.ended >= self.started
    }
}

/// Panics if the environment names this thread, so that tests can provoke a panic.
pub(crate) fn panic_where_asked() {
    let asked = std::env::var("PLIMSOLL_PANIC").ok();
    let is_asked = asked.is_some() && asked.as_deref() == thread::current().name();
    assert!(!is_asked, "PLIMSOLL_PANIC asks for it");
}

/// The error of a thread that has panicked.
pub fn panicked() -> HostError {
    HostError::new("a thread has ended by the bug named above, so there is no result")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use trial::{Coordinator, Member, Stop};

    use super::{Crew, News};

    /// All reports and results until the threads end, each within ten seconds.
    fn told(mut crew: Crew<u8, u8>) -> (Vec<u8>, Vec<Option<u8>>) {
        let (mut told, mut ends) = (Vec::new(), Vec::new());
        while !crew.has_ended() {
            match crew.next(Duration::from_secs(10)) {
                Some(News::Told(number)) => told.push(number),
                Some(News::Ended(end)) => ends.push(end),
                None => panic!("a thread's end was not told"),
            }
        }
        ends.sort_unstable();
        (told, ends)
    }

    #[test]
    fn a_panic_of_one_thread_is_told_and_ends_the_others() {
        let coordinator = Arc::new(Coordinator::new(2));
        let jobs = vec![(0_u8, Member::new(&coordinator)), (1, Member::new(&coordinator))];
        let shared = Arc::clone(&coordinator);
        let crew = Crew::start(jobs, move |(number, member), news| {
            assert_eq!(number, 1, "the first one panics");
            while shared.stopped().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(member);
            news.tell(7);
            number
        });
        assert_eq!(crew.started, 2);
        assert_eq!(told(crew), (vec![7], vec![None, Some(1)]));
        assert_eq!(coordinator.stopped(), Some(Stop::Failed));
    }
}
