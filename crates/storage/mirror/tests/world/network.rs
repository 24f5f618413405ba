//! Connections between hosts: loss, delay, reordering, repetition and partitions, independent in
//! each direction.

use units::{Nanos, Prng};

/// One direction of a connection.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// Messages sent before this time are lost.
    cut_until: Nanos,
    slow_until: Nanos,
    loss_percent: u32,
    repeat_percent: u32,
}

impl Line {
    pub(crate) fn drawn(prng: &mut Prng) -> Self {
        let is_rough = prng.percent(50);
        let (loss_percent, repeat_percent) = if is_rough { (4, 4) } else { (0, 0) };
        Self { cut_until: Nanos::ZERO, slow_until: Nanos::ZERO, loss_percent, repeat_percent }
    }

    pub(crate) fn cut(&mut self, until: Nanos) {
        self.cut_until = self.cut_until.max(until);
    }

    pub(crate) fn slow(&mut self, until: Nanos) {
        self.slow_until = self.slow_until.max(until);
    }

    /// Heals whatever faults were set.
    pub(crate) fn heal(&mut self) {
        (self.cut_until, self.slow_until, self.loss_percent) = (Nanos::ZERO, Nanos::ZERO, 0);
    }

    /// When copies of a message sent now arrive.
    pub(crate) fn arrivals(&self, now: Nanos, prng: &mut Prng) -> Vec<Nanos> {
        if now < self.cut_until || prng.percent(self.loss_percent) {
            return Vec::new();
        }
        let copies = 1 + u64::from(prng.percent(self.repeat_percent));
        (0..copies).map(|_| now + self.delay(now, prng)).collect()
    }

    fn delay(&self, now: Nanos, prng: &mut Prng) -> Nanos {
        let usual = 100 + prng.below(900);
        let micros = match prng.below(1_000) {
            _ if now < self.slow_until => 1_000 * (1 + prng.below(400)),
            0 => 1_000 * prng.below(20_000),
            1..20 => 1_000 * prng.below(300),
            _ => usual,
        };
        Nanos::from_micros(micros)
    }
}
