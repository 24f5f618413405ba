//! Sends queries that a volume may never answer from a separate thread, so that the main thread,
//! which ends the run and handles Ctrl-C, waits for none of them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use device::Clock as _;
use device_os::OsClock;
use units::Nanos;

use crate::crew;
use crate::error::HostError;

/// Silence after which a volume counts as stuck; a working one reports its free space sooner.
const STUCK: Nanos = Nanos::from_millis(500);

type Question<A> = Box<dyn FnOnce() -> A + Send>;

/// Questions about volumes, answered in their order.
pub(super) struct Questions<A> {
    asked: Sender<Question<A>>,
    answers: Receiver<A>,
    /// Answers not collected yet.
    heard: Vec<A>,
    /// Unanswered queries: folder, and since when.
    waiting: VecDeque<(PathBuf, Nanos)>,
    clock: OsClock,
}

impl<A: Send + 'static> Questions<A> {
    /// Starts the thread, without queries. It exits when this is dropped, unless the system never
    /// answers it.
    pub(super) fn start() -> Result<Self, HostError> {
        let (asked, questions) = mpsc::channel::<Question<A>>();
        let (sender, answers) = mpsc::channel();
        crew::start_thread("volumes", move || {
            for question in questions {
                if sender.send(question()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            asked,
            answers,
            heard: Vec::new(),
            waiting: VecDeque::new(),
            clock: OsClock::new(),
        })
    }

    /// Asks about the volume of `folder`.
    pub(super) fn ask(&mut self, folder: &Path, question: impl FnOnce() -> A + Send + 'static) {
        let is_heard = self.asked.send(Box::new(question)).is_ok();
        if is_heard {
            let since = self.clock.now();
            self.waiting.push_back((folder.to_owned(), since));
        }
    }

    /// Answers that have arrived since the last call.
    pub(super) fn answers(&mut self) -> Vec<A> {
        self.listen();
        std::mem::take(&mut self.heard)
    }

    /// Like [`Self::answers`], but waits up to `limit` for pending ones.
    pub(super) fn answers_within(&mut self, limit: Duration) -> Vec<A> {
        let began = Instant::now();
        while !self.waiting.is_empty() {
            let left = limit.saturating_sub(began.elapsed());
            let Ok(answer) = self.answers.recv_timeout(left) else {
                break;
            };
            self.hear(answer);
        }
        self.answers()
    }

    fn listen(&mut self) {
        while let Ok(answer) = self.answers.try_recv() {
            self.hear(answer);
        }
    }

    fn hear(&mut self, answer: A) {
        self.waiting.pop_front();
        self.heard.push(answer);
    }

    /// Whether a volume has been silent for so long that it may never answer.
    pub(super) fn is_stuck(&mut self) -> bool {
        self.listen();
        let now = self.clock.now();
        let mut since = self.waiting.iter().map(|(_, since)| now.since(*since));
        since.any(|span| span >= STUCK)
    }

    /// The folder whose volume has not answered for longest, and since when.
    pub(super) fn waiting(&mut self) -> Option<&(PathBuf, Nanos)> {
        self.listen();
        self.waiting.front()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::mpsc;
    use std::time::{Duration, Instant};

    use super::Questions;

    #[test]
    fn a_question_without_an_answer_holds_nothing_up_and_is_seen() {
        let mut questions = Questions::start().unwrap();
        let (let_go, held) = mpsc::channel::<u8>();
        questions.ask(Path::new("/first"), move || held.recv().unwrap_or(0));
        questions.ask(Path::new("/second"), || 2);
        assert!(questions.answers_within(Duration::from_millis(20)).is_empty());
        let waiting = questions.waiting().map(|(folder, _)| folder.as_path());
        assert_eq!(waiting, Some(Path::new("/first")));
        let_go.send(1).unwrap();
        assert_eq!(questions.answers_within(Duration::from_mins(1)), [1, 2]);
        assert!(questions.waiting().is_none() && questions.answers().is_empty());
        // An answer that has not been collected yet counts as well.
        questions.ask(Path::new("/third"), || 3);
        let began = Instant::now();
        while questions.waiting().is_some() {
            assert!(began.elapsed() < Duration::from_mins(1), "no answer");
        }
        assert!(!questions.is_stuck());
        assert_eq!(questions.answers(), [3]);
    }
}
