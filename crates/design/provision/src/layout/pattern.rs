//! The balanced pattern of one failure domain: which of its servers hold the n-th database.

/// The copies of all databases within one group of servers.
pub(super) struct Pattern {
    /// Number of the group's first server.
    pub first_server: usize,
    /// Servers of the group.
    pub servers: usize,
    /// How many of them hold each database.
    pub copies: usize,
    /// Rounds of databases after which the same group goes first again.
    pub turns: usize,
    /// How far the group moves against others after that many rounds.
    pub drift: usize,
}

impl Pattern {
    /// The servers that hold `database`, first copy first.
    pub(super) fn servers_of(&self, database: usize) -> Vec<usize> {
        if self.copies == 0 {
            return Vec::new();
        }
        let round = database / self.servers;
        let home = database + round / self.turns * self.drift;
        self.shifts(round)
            .iter()
            .map(|shift| self.first_server + (home + shift) % self.servers)
            .collect()
    }

    /// Offsets of this round's copies from the first one.
    ///
    /// Each copy is on a free server after the previous copy's. How many free ones it skips is a
    /// digit of the round number in mixed radix with the bases S-1, S-2, ... for S servers. So the
    /// rounds of a period all differ, and with C copies a period has S!/(S-C)! databases.
    fn shifts(&self, round: usize) -> Vec<usize> {
        let mut digits = self.variant(round);
        let mut shifts = vec![0];
        while shifts.len() < self.copies {
            let free = self.servers - shifts.len();
            let skip = digits % free;
            digits /= free;
            shifts.push(self.free_behind(&shifts, skip));
        }
        shifts
    }

    /// The free place after the last one of `taken`, skipping `skip` free ones.
    fn free_behind(&self, taken: &[usize], skip: usize) -> usize {
        let last = taken.last().copied().unwrap_or(0);
        let places = (1..=self.servers).map(|step| (last + step) % self.servers);
        let mut free = places.filter(|place| !taken.contains(place));
        free.nth(skip).expect("invariant: there are fewer copies than servers")
    }

    /// Index of `round` among the distinct rounds. If their number and `turns` have a common
    /// factor, one is skipped per cycle, so that each turn eventually sees all of them.
    fn variant(&self, round: usize) -> usize {
        let distinct =
            (self.servers - self.copies + 1..self.servers).fold(1_usize, usize::saturating_mul);
        let common = greatest_common_divisor(distinct, self.turns);
        let cycle = (distinct / common).saturating_mul(self.turns);
        (round + round / cycle % common) % distinct
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
