//! Distinguishes senders that share one address: two processes on a host, or two hosts with one
//! address, each of which keeps its own interval.

use crate::advert::Advert;

/// Maximum number of senders kept per address; the one silent for longest is dropped.
const MOST_VOICES: usize = 8;
/// Times that a sender must follow another to prove that there are two.
const CROSSINGS: u32 = 2;
/// Largest step of one sender's IP identification between two advertisements; other packets to the
/// same destination may advance it.
const LARGEST_STEP: u16 = 4096;
/// A duplicate of a frame, as mirror ports produce, arrives within this time.
const COPY_NANOSECONDS: u64 = 10_000_000;

/// One sender.
#[derive(Clone, Debug)]
pub(crate) struct Voice {
    pub last: Advert,
    pub first_nanoseconds: u64,
    pub adverts: u64,
    crossings: u32,
}

/// All senders behind one address in one group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Voices {
    voices: Vec<Voice>,
    /// Indices of two proven senders.
    proved: Option<[usize; 2]>,
}

impl Voices {
    /// Processes the next accepted advertisement.
    pub(crate) fn hear(&mut self, advert: &Advert) {
        if self.voices.iter().any(|voice| is_copy(&voice.last, advert)) {
            return;
        }
        let Some(at) = self.voices.iter().position(|voice| continues(&voice.last, advert)) else {
            self.add(advert);
            return;
        };
        let before = self.voices[at].last.nanoseconds;
        let between = self.voices.iter().position(|other| other.last.nanoseconds > before);
        let voice = &mut self.voices[at];
        let span = advert.nanoseconds.saturating_sub(before);
        // A single sender whose priority flaps takes two intervals to return.
        let keeps_its_interval = span.saturating_mul(2) <= advert.interval_nanoseconds * 3;
        let other = between.filter(|_| keeps_its_interval);
        voice.crossings = if other.is_some() { voice.crossings + 1 } else { 0 };
        voice.adverts += 1;
        voice.last = advert.clone();
        if let Some(other) = other.filter(|_| voice.crossings >= CROSSINGS) {
            self.proved = self.proved.or(Some([at.min(other), at.max(other)]));
        }
    }

    fn add(&mut self, advert: &Advert) {
        let voice = Voice {
            last: advert.clone(),
            first_nanoseconds: advert.nanoseconds,
            adverts: 1,
            crossings: 0,
        };
        if self.voices.len() < MOST_VOICES {
            self.voices.push(voice);
            return;
        }
        let oldest =
            (0..self.voices.len()).filter(|at| !self.proved.is_some_and(|pair| pair.contains(at)));
        if let Some(at) = oldest.min_by_key(|at| self.voices[*at].last.nanoseconds) {
            self.voices[at] = voice;
        }
    }

    /// The two senders, if two were proved.
    pub(crate) fn two(&self) -> Option<[&Voice; 2]> {
        self.proved.map(|pair| pair.map(|at| &self.voices[at]))
    }
}

fn is_copy(last: &Advert, advert: &Advert) -> bool {
    last.identification == advert.identification
        && (last.priority, &last.addresses) == (advert.priority, &advert.addresses)
        && advert.nanoseconds.abs_diff(last.nanoseconds) <= COPY_NANOSECONDS
}

/// Whether one sender may have sent both advertisements.
fn continues(last: &Advert, advert: &Advert) -> bool {
    let is_like = (last.mac, last.priority, last.interval_nanoseconds, &last.addresses)
        == (advert.mac, advert.priority, advert.interval_nanoseconds, &advert.addresses);
    is_like && is_one_counter(last, advert)
}

/// Whether the IP identifications may come from one counter; packets without one prove nothing.
pub(crate) fn is_one_counter(last: &Advert, advert: &Advert) -> bool {
    match (last.identification, advert.identification) {
        (Some(before), Some(now)) => now.wrapping_sub(before) < LARGEST_STEP,
        (None, None) => true,
        _ => false,
    }
}
