//! The prices behind the costs of a design, so that a reader can check them.

use plan::deployment::Prices;
use units::{decimal, three_digits};

/// The prices of a deployment in a sentence, and what has none.
pub(super) fn sentence(prices: &Prices) -> String {
    let (mut given, mut without) = (Vec::new(), Vec::new());
    for (what, price) in items(prices) {
        match price {
            Some(price) => given.push(format!("{what} {}", amount(price))),
            None => without.push(what),
        }
    }
    if given.is_empty() {
        return "[prices] gives no price.".to_owned();
    }
    let (currency, years) = (&prices.currency, three_digits(prices.years));
    let missing = if without.is_empty() {
        String::new()
    } else {
        format!(" Without a price, and in no sum: {}.", without.join(", "))
    };
    format!(
        "Prices in {currency}, from [prices]: {}; rack and power count for {years} years.{missing}",
        given.join(", ")
    )
}

const fn items(prices: &Prices) -> [(&'static str, Option<f64>); 7] {
    [
        ("a server", prices.server),
        ("a GiB of memory", prices.memory_gb),
        ("a disk of any type and size", prices.disk),
        ("a system disk", prices.system_disk),
        ("an SSD", prices.ssd),
        ("a rack unit for a year", prices.rack_unit_year),
        ("a kilowatt hour", prices.kilowatt_hour),
    ]
}

/// Whole amounts have no decimals; a kilowatt hour needs two.
fn amount(price: f64) -> String {
    if price.fract().abs() < 1e-9 { decimal(price, 0) } else { decimal(price, 2) }
}

#[cfg(test)]
mod tests {
    use plan::deployment::Prices;

    use super::sentence;

    #[test]
    fn a_reader_sees_every_price_and_what_has_none() {
        let prices = Prices {
            currency: "CHF".to_owned(),
            server: Some(6_000.0),
            kilowatt_hour: Some(0.25),
            years: 5.0,
            ..Prices::default()
        };
        assert_eq!(
            sentence(&prices),
            "Prices in CHF, from [prices]: a server 6,000, a kilowatt hour 0.25; rack and power \
             count for 5 years. Without a price, and in no sum: a GiB of memory, a disk of any \
             type and size, a system disk, an SSD, a rack unit for a year."
        );
        assert_eq!(sentence(&Prices::default()), "[prices] gives no price.");
    }
}
