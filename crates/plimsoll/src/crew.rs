//! Threads whose every end is told, a panic included: the main thread waits for news, never for a
//! thread, since one whose request the kernel keeps would never end.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::thread;

use crate::error::CommandError;

/// What a thread tells.
pub(crate) enum News<M, T> {
    /// Something on its way.
    Told(M),
    /// It has ended with this; none where it panicked, which was explained where it happened.
    Ended(Option<T>),
}

/// How many threads were started, and why not all of them.
pub(crate) struct Crew {
    /// Threads that run, each of which will tell its end.
    pub started: usize,
    /// Why a thread could not be started, where one could not. Its job, and those behind it, were
    /// dropped.
    pub refusal: Option<CommandError>,
}

/// Starts `work` for each job on a thread of its own, named for what it does.
pub(crate) fn start<J, M, T>(
    jobs: Vec<J>,
    news: &Sender<News<M, T>>,
    work: impl Fn(J, &Sender<News<M, T>>) -> T + Clone + Send + 'static,
) -> Crew
where
    J: Send + 'static,
    M: Send + 'static,
    T: Send + 'static,
{
    let mut started = 0;
    for (number, job) in jobs.into_iter().enumerate() {
        let (work, news) = (work.clone(), news.clone());
        let body = move || {
            let end = catch_unwind(AssertUnwindSafe(|| work(job, &news)));
            // The channel is closed only where the program is ending.
            let _ = news.send(News::Ended(end.ok()));
        };
        let named = thread::Builder::new().name(format!("group {number}"));
        if let Err(error) = named.spawn(body) {
            let sentence = format!(
                "cannot start a thread: {error}; end other programs, or raise the limit of \
                 processes (ulimit -u, or pids.max of the control group)"
            );
            let refusal = Some(CommandError::new(sentence));
            return Crew { started, refusal };
        }
        started += 1;
    }
    let refusal = None;
    Crew { started, refusal }
}

/// Panics on the thread that the environment names: a test cannot wait for a bug.
pub(crate) fn panic_where_asked() {
    let asked = std::env::var("PLIMSOLL_PANIC").ok();
    let is_asked = asked.is_some() && asked.as_deref() == thread::current().name();
    assert!(!is_asked, "PLIMSOLL_PANIC asks for it");
}

/// The error of a thread that has panicked.
pub(crate) fn panicked() -> CommandError {
    CommandError::new("a thread has ended by the bug named above, so there is no result")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::time::Duration;

    use trial::{Coordinator, Member, Stop};

    use super::{News, start};

    /// Everything that is told within ten seconds, until two threads have ended.
    fn told(receiver: &mpsc::Receiver<News<u8, u8>>) -> (Vec<u8>, Vec<Option<u8>>) {
        let (mut told, mut ends) = (Vec::new(), Vec::new());
        while ends.len() < 2 {
            match receiver.recv_timeout(Duration::from_secs(10)) {
                Ok(News::Told(number)) => told.push(number),
                Ok(News::Ended(end)) => ends.push(end),
                Err(error) => panic!("a thread's end was not told: {error}"),
            }
        }
        ends.sort_unstable();
        (told, ends)
    }

    #[test]
    fn a_panic_of_one_thread_is_told_and_ends_the_others() {
        let coordinator = Arc::new(Coordinator::new(2));
        let jobs = vec![
            (0_u8, Member::new(&coordinator)),
            (1, Member::new(&coordinator)),
        ];
        let (sender, receiver) = mpsc::channel();
        let shared = Arc::clone(&coordinator);
        let crew = start(jobs, &sender, move |(number, member), news| {
            assert_eq!(number, 1, "the first one panics");
            while shared.stopped().is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(member);
            let _ = news.send(News::Told(7));
            number
        });
        assert_eq!(crew.started, 2);
        assert_eq!(told(&receiver), (vec![7], vec![None, Some(1)]));
        assert_eq!(coordinator.stopped(), Some(Stop::Failed));
    }
}
