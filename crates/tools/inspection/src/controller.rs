//! RAID controllers: turns the outputs of vendors' tools into facts of one form, and judges them
//! for a mail store.
//!
//! The tools' outputs are foreign text, written for people, in many releases. Five rules hold for
//! all of them: a criterion that cannot be applied is *cannot judge*; an unknown word is *cannot
//! judge* ([`KnownFact`]); an unknown line is kept and counted ([`UnreadLine`]); evidence is never
//! merged without identity ([`merged`]); a worse fact is never overwritten by a later line
//! ([`KnownFact`] keeps all values, and rules judge each).

mod arcconf;
mod error;
mod facts;
mod identity;
mod known;
mod lines;
mod mdadm;
mod megacli;
mod nvme;
mod policies;
mod rules;
mod ssacli;
mod storcli;
mod words;

pub use error::ControllerError;
pub(crate) use facts::{CacheBackup, DiskCaches, Health, PhysicalDisk};
pub use facts::{Controller, LogicalDrive, Tool, WritePolicy};
pub use identity::{OutputSource, merged};
pub use known::KnownFact;
pub use lines::UnreadLine;
pub use rules::{leaves_open, not_understood, of_controller, silent, untold};

/// Parsed output of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// The controllers described.
    pub controllers: Vec<Controller>,
    /// Lines that no reader understood and that may matter.
    pub unread: Vec<UnreadLine>,
}

/// A reader of one tool's outputs: `None` if the text is not one of them.
type OutputReader = fn(&str) -> Option<Result<Output, ControllerError>>;

const READERS: [OutputReader; 7] = [
    storcli::read_text,
    megacli::read,
    ssacli::read,
    arcconf::read,
    mdadm::read_detail,
    mdadm::read_status,
    nvme::read,
];

/// Reads the tool outputs in a text, one or several in a row. A line counts as understood if any of
/// the readers that recognise their tool in the text understood it.
pub fn read(text: &str) -> Result<Output, ControllerError> {
    let text = text.trim_start_matches('\u{feff}');
    if storcli::is_json(text) {
        return storcli::read_json(text);
    }
    let answers: Vec<Output> =
        READERS.iter().filter_map(|reader| reader(text)).collect::<Result<_, _>>()?;
    let Some(unread) = answers.iter().map(|of| of.unread.clone()).reduce(|mut all, of| {
        all.retain(|line| of.contains(line));
        all
    }) else {
        return Err(ControllerError::Unknown);
    };
    let mut controllers: Vec<_> = answers.into_iter().flat_map(|of| of.controllers).collect();
    controllers.iter_mut().for_each(Controller::expect_sense);
    Ok(Output { controllers, unread })
}
