//! Numbers that remember how they were derived.
//!
//! A formula is written once, in Rust; its operators build the text that explains it, once with the
//! names of its inputs and once with their numbers. So an explanation cannot drift from the
//! calculation.

use std::ops::{Add, Div, Mul, Sub};

/// A value with the formula that made it.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    value: f64,
    formula: String,
    numbers: String,
    binding: Binding,
}

/// How tightly the outermost operator of a text binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Whole,
}

impl Number {
    /// A number known by a name.
    pub(crate) fn named(name: &str, value: f64) -> Self {
        Self { value, formula: name.to_owned(), numbers: write(value), binding: Binding::Whole }
    }

    /// A constant that needs no name.
    pub(crate) fn plain(value: f64) -> Self {
        Self::named(&write(value), value)
    }

    /// The value.
    pub(crate) const fn value(&self) -> f64 {
        self.value
    }

    /// The formula with names.
    pub(crate) fn formula(&self) -> &str {
        &self.formula
    }

    /// The formula with numbers in place of names.
    pub(crate) fn numbers(&self) -> &str {
        &self.numbers
    }

    /// Rounds up to a whole number, ignoring rounding error in the last digit.
    #[must_use]
    pub(crate) fn up(self) -> Self {
        let value = snapped(self.value).ceil();
        self.called("up", value)
    }

    /// Rounded down to a whole number.
    #[must_use]
    pub(crate) fn down(self) -> Self {
        let value = snapped(self.value).floor();
        self.called("down", value)
    }

    /// Rounded to the nearest whole number, halves up.
    #[must_use]
    pub(crate) fn round(self) -> Self {
        let value = (snapped(self.value) + 0.5).floor();
        self.called("round", value)
    }

    /// The smallest multiple of `step` that is not less.
    #[must_use]
    pub(crate) fn up_to(self, step: impl Into<Self>) -> Self {
        let step = step.into();
        let steps = snapped(self.value / step.value).ceil();
        // A huge step does not turn a real count into rounding error.
        let steps = if snapped(self.value) > 0.0 { steps.max(1.0) } else { steps };
        let value = steps * step.value;
        joined("up_to", &[self, step], value)
    }

    /// The largest multiple of `step` that is not greater.
    #[must_use]
    pub(crate) fn down_to(self, step: impl Into<Self>) -> Self {
        let step = step.into();
        let value = snapped(self.value / step.value).floor() * step.value;
        joined("down_to", &[self, step], value)
    }

    /// The nearest multiple of `step`, halves up.
    #[must_use]
    pub(crate) fn round_to(self, step: impl Into<Self>) -> Self {
        let step = step.into();
        let value = (snapped(self.value / step.value) + 0.5).floor() * step.value;
        joined("round_to", &[self, step], value)
    }

    /// The smaller of two.
    #[must_use]
    pub(crate) fn min(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        let value = self.value.min(other.value);
        joined("min", &[self, other], value)
    }

    /// The larger of two.
    #[must_use]
    pub(crate) fn max(self, other: impl Into<Self>) -> Self {
        let other = other.into();
        let value = self.value.max(other.value);
        joined("max", &[self, other], value)
    }

    /// The remainder of a division.
    #[must_use]
    pub(crate) fn modulo(self, by: impl Into<Self>) -> Self {
        let by = by.into();
        let value = self.value.rem_euclid(by.value);
        joined("mod", &[self, by], value)
    }

    /// Number of ordered arrangements of `taken` out of this many things: n! / (n - k)!.
    #[must_use]
    pub(crate) fn orders(self, taken: impl Into<Self>) -> Self {
        let taken = taken.into();
        let (mut value, mut factor) = (1.0, self.value);
        while factor > self.value - taken.value && factor > 1.0 {
            value *= factor;
            factor -= 1.0;
        }
        joined("orders", &[self, taken], value)
    }

    /// A number of this `value` that explains itself as `name(...)` of the numbers in `all`.
    pub(crate) fn of_all(name: &str, all: &[Self], value: f64) -> Self {
        joined(name, all, value)
    }

    fn called(self, name: &str, value: f64) -> Self {
        joined(name, &[self], value)
    }

    fn text(&self, of: fn(&Self) -> &str, above: Binding) -> String {
        if self.binding < above { format!("({})", of(self)) } else { of(self).to_owned() }
    }

    /// Joins two numbers with the sign between them; `right` is how tightly the right one must bind
    /// to need no brackets.
    fn infix(self, sign: char, other: &Self, value: f64, own: Binding, right: Binding) -> Self {
        let [formula, numbers] = [Self::formula, Self::numbers]
            .map(|of| format!("{} {sign} {}", self.text(of, own), other.text(of, right)));
        Self { value, formula, numbers, binding: own }
    }
}

fn joined(name: &str, parts: &[Number], value: f64) -> Number {
    let formulas: Vec<&str> = parts.iter().map(Number::formula).collect();
    let numbers: Vec<&str> = parts.iter().map(Number::numbers).collect();
    Number {
        value,
        formula: format!("{name}({})", formulas.join(", ")),
        numbers: format!("{name}({})", numbers.join(", ")),
        binding: Binding::Whole,
    }
}

/// The value without floating-point noise: 2.9999999999998 is 3.
fn snapped(value: f64) -> f64 {
    let nearest = value.round();
    if (value - nearest).abs() < 1e-9 * value.abs().max(1.0) { nearest } else { value }
}

/// Formats a value for explanations: six significant digits, no trailing zeros.
pub(crate) fn write(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let scientific = format!("{value:.5e}");
    let exponent = scientific.split_once('e').map(|(_, exponent)| exponent.parse::<i32>());
    let exponent = exponent.and_then(Result::ok).unwrap_or(0);
    let digits = usize::try_from(5 - exponent).unwrap_or(0);
    let text = format!("{value:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self::plain(value)
    }
}

impl From<&Self> for Number {
    fn from(number: &Self) -> Self {
        number.clone()
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $sign:literal, $own:ident, $right:ident) => {
        impl<T: Into<Number>> $trait<T> for Number {
            type Output = Number;
            fn $method(self, other: T) -> Number {
                let other = other.into();
                let value = $trait::$method(self.value, other.value);
                self.infix($sign, &other, value, Binding::$own, Binding::$right)
            }
        }
        impl<T: Into<Number>> $trait<T> for &Number {
            type Output = Number;
            fn $method(self, other: T) -> Number {
                $trait::$method(self.clone(), other)
            }
        }
        impl $trait<Number> for f64 {
            type Output = Number;
            fn $method(self, other: Number) -> Number {
                $trait::$method(Number::plain(self), other)
            }
        }
        impl $trait<&Number> for f64 {
            type Output = Number;
            fn $method(self, other: &Number) -> Number {
                $trait::$method(Number::plain(self), other.clone())
            }
        }
    };
}

operator!(Add, add, '+', Sum, Sum);
operator!(Sub, sub, '-', Sum, Product);
operator!(Mul, mul, '*', Product, Product);
operator!(Div, div, '/', Product, Whole);

/// The sum of numbers; zero if there are none.
pub(crate) fn sum(numbers: impl IntoIterator<Item = Number>) -> Number {
    let sum = numbers.into_iter().reduce(|sum, number| sum + number);
    sum.unwrap_or_else(|| Number::plain(0.0))
}

#[cfg(test)]
mod tests {
    use super::{Number, sum, write};

    #[test]
    fn operators_write_what_they_calculate() {
        let (a, b) = (Number::named("a", 6.0), Number::named("b", 4.0));
        let result = ((&a + &b) * 2.0 - &a / (&b * 3.0)).up();
        assert_eq!(result.formula(), "up((a + b) * 2 - a / (b * 3))");
        assert_eq!(result.numbers(), "up((6 + 4) * 2 - 6 / (4 * 3))");
        assert!((result.value() - 20.0).abs() < 1e-12);
        let nested = 1.0 - (&a - (&b - 1.0));
        assert_eq!(nested.formula(), "1 - (a - (b - 1))");
        assert_eq!(sum([a.clone(), b.clone()]).formula(), "a + b");
        assert_eq!(a.max(&b).min(5.0).formula(), "min(max(a, b), 5)");
    }

    #[test]
    fn rounding_forgives_the_last_digit() {
        let third = Number::plain(0.1 + 0.2) * 10.0;
        assert_eq!(third.clone().up().value().to_string(), "3");
        assert_eq!(third.down().value().to_string(), "3");
        assert_eq!(Number::plain(3.01).up().value().to_string(), "4");
        assert_eq!(Number::plain(2.5).round().value().to_string(), "3");
        assert_eq!(Number::plain(38.0).up_to(4.0).value().to_string(), "40");
        assert_eq!(Number::plain(1.0).up_to(1e12).value().to_string(), "1000000000000");
        assert_eq!(Number::plain(8.0).orders(2.0).value().to_string(), "56");
        assert_eq!(Number::plain(2.0).orders(2.0).value().to_string(), "2");
    }

    #[test]
    fn six_digits_are_written() {
        for (value, text) in [
            (0.0, "0"),
            (0.000_67, "0.00067"),
            (1234.5678, "1234.57"),
            (100_000.0, "100000"),
            (12_345_678.9, "12345679"),
            (62.5, "62.5"),
        ] {
            assert_eq!(write(value), text);
        }
    }
}
