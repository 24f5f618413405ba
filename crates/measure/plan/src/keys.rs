//! Takes checked values out of a section, each with its default and bounds.
//!
//! [`TomlSection`] knows kinds and places; this adds the valid values of a key, so that a document
//! whose defaults do not depend on each other is read and checked in one pass.

use units::{Bytes, Nanos};

use crate::bounds::{Quantity, within};
use crate::complaint::{Complaint, Problem};
use crate::reader::{Given, NumberOrAuto, TomlPlace, TomlSection, Value};

/// A value chosen from a few words.
pub(crate) trait Choice: Copy + 'static {
    /// The words and their meanings.
    const ALL: &'static [Self];
    /// The words, in the same order.
    const WORDS: &'static [&'static str];
}

/// A section being read.
pub(crate) struct Keys<'a, 'c> {
    section: TomlSection<'a>,
    complaints: &'c mut Vec<Complaint>,
}

impl<'a, 'c> Keys<'a, 'c> {
    pub(crate) const fn new(section: TomlSection<'a>, complaints: &'c mut Vec<Complaint>) -> Self {
        Self { section, complaints }
    }

    /// The section `[key]` below this one.
    pub(crate) fn below(&mut self, key: &'static str) -> Keys<'a, '_> {
        let section = self.section.section(key, self.complaints);
        Keys::new(section, self.complaints)
    }

    /// Applies `read` to each section `[[key]]`.
    pub(crate) fn each<T>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(Keys<'a, '_>, usize) -> T,
    ) -> Vec<T> {
        self.section
            .sections(key, self.complaints)
            .into_iter()
            .enumerate()
            .map(|(index, section)| read(Keys::new(section, self.complaints), index))
            .collect()
    }

    /// Complains about every key that was never asked for.
    pub(crate) fn finish(self) {
        self.section.finish(self.complaints);
    }

    pub(crate) fn place(&self, key: &str) -> TomlPlace {
        self.section.place(key)
    }

    /// Whether the document gives `key`; it counts as known from now on.
    pub(crate) fn has(&mut self, key: &'static str) -> bool {
        self.section.has(key)
    }

    /// Number of complaints so far. Callers compare it to omit complaints that only follow from
    /// earlier ones.
    pub(crate) fn complaints(&self) -> usize {
        self.complaints.len()
    }

    /// Complains about a contradiction at `key`.
    pub(crate) fn conflict(&mut self, key: &str, message: impl Into<String>) {
        let message = message.into();
        let place = self.section.place(key);
        self.complaints.push(place.complaint(Problem::Conflict { message }));
    }

    /// Whether the document gives `key`, readable or not.
    pub(crate) fn holds(&self, key: &str) -> bool {
        self.section.holds(key)
    }

    /// Complains about the section as a whole.
    pub(crate) fn complain(&mut self, problem: Problem) {
        let place = self.section.place("");
        self.complaints.push(place.complaint(problem));
    }

    /// Complains that `key` is absent, unless it was given and could not be read.
    pub(crate) fn missing(&mut self, key: &str, example: impl Into<String>) {
        if self.section.holds(key) {
            return;
        }
        let example = example.into();
        let place = self.section.place("");
        self.complaints.push(place.complaint(Problem::Missing { example }));
    }

    pub(crate) fn take<T: Value>(&mut self, key: &'static str) -> Option<Given<T>> {
        self.section.take(key, self.complaints)
    }

    pub(crate) fn list<T: Value>(&mut self, key: &'static str) -> Option<Vec<Given<T>>> {
        self.section.take_list(key, self.complaints)
    }

    fn within<T: Value + Quantity>(&mut self, key: &'static str, default: T, bounds: (T, T)) -> T {
        let given = self.take(key);
        within(self.complaints, given.as_ref(), default, bounds)
    }

    /// The value if it is given; `None` if it is absent or cannot be read.
    pub(crate) fn given<T: Value + Quantity>(
        &mut self,
        key: &'static str,
        bounds: (T, T),
    ) -> Option<T> {
        let given = self.take(key)?;
        Some(within(self.complaints, Some(&given), bounds.0, bounds))
    }

    pub(crate) fn number(&mut self, key: &'static str, default: f64, bounds: (f64, f64)) -> f64 {
        self.within(key, default, bounds)
    }

    /// Returns a share, given in percent in documents.
    pub(crate) fn share(&mut self, key: &'static str, default: f64, bounds: (f64, f64)) -> f64 {
        self.within(key, default, bounds) / 100.0
    }

    pub(crate) fn count(&mut self, key: &'static str, default: u32, bounds: (u32, u32)) -> u32 {
        let bounds = (i128::from(bounds.0), i128::from(bounds.1));
        let value = self.within(key, i128::from(default), bounds);
        u32::try_from(value).unwrap_or(default)
    }

    /// A number without a default; the least possible one if there is a complaint.
    pub(crate) fn needed(&mut self, key: &'static str, bounds: (f64, f64), example: &str) -> f64 {
        if !self.has(key) {
            self.missing(key, example);
        }
        self.within(key, bounds.0, bounds)
    }

    /// A count, or `None` if the document leaves it to the program.
    pub(crate) fn count_or_auto(&mut self, key: &'static str, bounds: (u32, u32)) -> Option<u32> {
        let given: Given<NumberOrAuto> = self.take(key)?;
        let NumberOrAuto::Number(value) = given.value else {
            return None;
        };
        let place = given.place;
        let bounds = (i128::from(bounds.0), i128::from(bounds.1));
        let given = Given { value, place };
        let value = within(self.complaints, Some(&given), bounds.0, bounds);
        u32::try_from(value).ok()
    }

    pub(crate) fn size(
        &mut self,
        key: &'static str,
        default: Bytes,
        bounds: (Bytes, Bytes),
    ) -> Bytes {
        self.within(key, default, bounds)
    }

    pub(crate) fn span(
        &mut self,
        key: &'static str,
        default: Nanos,
        bounds: (Nanos, Nanos),
    ) -> Nanos {
        self.within(key, default, bounds)
    }

    pub(crate) fn flag(&mut self, key: &'static str, default: bool) -> bool {
        self.take(key).map_or(default, |given| given.value)
    }

    pub(crate) fn text(&mut self, key: &'static str, default: &str) -> String {
        self.take(key).map_or_else(|| default.to_owned(), |given: Given<String>| given.value)
    }

    /// One of a few words; `None` if it is absent or invalid.
    pub(crate) fn choice<T: Choice>(&mut self, key: &'static str) -> Option<T> {
        let given: Given<String> = self.take(key)?;
        let word = given.value.trim();
        let index = T::WORDS.iter().position(|known| known.eq_ignore_ascii_case(word));
        if index.is_none() {
            self.not_a_choice(&given, T::WORDS);
        }
        T::ALL.get(index?).copied()
    }

    /// Complains about a word that is not one of the known ones.
    pub(crate) fn not_a_choice(&mut self, given: &Given<String>, choices: &'static [&'static str]) {
        let found = given.value.clone();
        self.complaints.push(given.place.complaint(Problem::NotAChoice { found, choices }));
    }

    /// Complains about a type of disk of which nothing is known.
    pub(crate) fn unknown_disk(&mut self, given: &Given<String>, kinds: &'static [&'static str]) {
        let found = given.value.clone();
        self.complaints.push(given.place.complaint(Problem::UnknownDisk { found, kinds }));
    }
}
