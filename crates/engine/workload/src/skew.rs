//! Skewed access: favours the newest messages, as people read their mail.

use units::Prng;

use crate::ids::Place;

/// Draws message places by Zipf's law, the newest message being the most popular.
///
/// With exponent *theta* below 1, the most popular fraction *x* of the messages receives *x* to the
/// power of 1 - theta of the accesses, whatever the number of messages. So a position can be drawn
/// before that number is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skew {
    /// Exponent applied to a uniform draw: 1 / (1 - theta).
    exponent: f64,
}

impl Skew {
    /// All messages alike.
    pub(crate) const NONE: Self = Self { exponent: 1.0 };

    /// Skew for `theta` from 0 (uniform) to below 1.
    pub(crate) fn new(theta: f64) -> Self {
        assert!((0.0..1.0).contains(&theta), "a plan keeps theta within 0 and 0.99");
        Self { exponent: 1.0 / (1.0 - theta) }
    }

    /// Draws the next place. Takes one number from `draws`, whatever theta is.
    pub(crate) fn place(self, draws: &mut Prng) -> Place {
        const WHOLE: f64 = 18_446_744_073_709_551_616.0;
        let draw = draws.next_u64();
        if self.exponent <= 1.0 {
            return Place(draw);
        }
        let from_newest = power(draw as f64 / WHOLE, self.exponent);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "0 to 2^64, and the cast saturates"
        )]
        let distance = (from_newest * WHOLE) as u64;
        Place(u64::MAX - distance)
    }
}

/// `base` (0 to 1) to the power of `exponent` (1 or more), using only multiplications and square
/// roots: IEEE 754 rounds these identically everywhere, while `powf` varies by platform. A seed
/// must yield the same places on every machine.
fn power(base: f64, exponent: f64) -> f64 {
    const FRACTION_BITS: u32 = 30;
    let (mut result, mut left) = (1.0, exponent);
    while left >= 1.0 {
        result *= base;
        left -= 1.0;
    }
    let mut root = base;
    for _ in 0..FRACTION_BITS {
        root = root.sqrt();
        left *= 2.0;
        if left >= 1.0 {
            left -= 1.0;
            result *= root;
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use units::{Prng, Seed};

    use super::{Skew, power};

    /// The fraction of draws that select the newest `part` of the messages.
    fn share(theta: f64, part: f64) -> f64 {
        let (skew, mut draws) = (Skew::new(theta), Prng::new(Seed(3)));
        let total = 100_000;
        let first = (1.0 - part) * 2_f64.powi(64);
        let in_part = (0..total).filter(|_| skew.place(&mut draws).0 as f64 >= first).count();
        in_part as f64 / f64::from(total)
    }

    #[test]
    fn the_newest_part_gets_the_share_of_zipfs_law() {
        for (theta, part) in [(0.0, 0.1), (0.5, 0.1), (0.9, 0.01), (0.99, 0.001)] {
            let (found, due) = (share(theta, part), part.powf(1.0 - theta));
            assert!((found - due).abs() < 0.01, "theta {theta}: {found} beside {due}");
        }
    }

    #[test]
    fn powers_are_those_of_the_library() {
        for base in [0.0, 1e-9, 0.3, 0.999_999, 1.0] {
            for exponent in [1.0, 1.5, 2.0, 10.0, 33.37, 100.0] {
                let (own, library): (f64, f64) = (power(base, exponent), base.powf(exponent));
                assert!((own - library).abs() <= library * 1e-7, "{base} ^ {exponent}");
            }
        }
    }
}
