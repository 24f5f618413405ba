//! Prices, rack units and power of hardware. If the document gives them, designs are ranked by
//! them; the program contains no prices.

use crate::keys::Keys;

/// Prices in one currency; absent ones are left out of every sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices {
    /// The currency, as the tables write it.
    pub currency: String,
    /// A server without memory, data disks and SSDs.
    pub server: Option<f64>,
    /// One GB of memory.
    pub memory_gb: Option<f64>,
    /// One disk for databases, logs, spares or restores.
    pub disk: Option<f64>,
    /// One system disk, of which each server has a mirrored pair.
    pub system_disk: Option<f64>,
    /// One SSD for `MetaCache` databases.
    pub ssd: Option<f64>,
    /// Rack units of a server with its disks.
    pub server_rack_units: Option<f64>,
    /// One rack unit for a year: space and cooling.
    pub rack_unit_year: Option<f64>,
    /// Watts of a server under load, without its data disks.
    pub server_watts: Option<f64>,
    /// Watts of a disk.
    pub disk_watts: Option<f64>,
    /// A kilowatt hour.
    pub kilowatt_hour: Option<f64>,
    /// Number of years over which energy and rack units are counted.
    pub years: f64,
}

/// The section `[prices]`, if the document has it.
pub(super) fn prices(root: &mut Keys<'_, '_>) -> Option<Prices> {
    let given = root.has("prices");
    let mut keys = root.below("prices");
    let prices = Prices {
        currency: keys.text("currency", "EUR"),
        server: price(&mut keys, "server"),
        memory_gb: price(&mut keys, "memory_gb"),
        disk: price(&mut keys, "disk"),
        system_disk: price(&mut keys, "system_disk"),
        ssd: price(&mut keys, "ssd"),
        server_rack_units: keys.given("server_rack_units", (0.0, 100.0)),
        rack_unit_year: price(&mut keys, "rack_unit_year"),
        server_watts: keys.given("server_watts", (0.0, 100_000.0)),
        disk_watts: keys.given("disk_watts", (0.0, 1_000.0)),
        kilowatt_hour: price(&mut keys, "kilowatt_hour"),
        years: keys.number("years", 5.0, (0.0, 30.0)),
    };
    keys.finish();
    given.then_some(prices)
}

fn price(keys: &mut Keys<'_, '_>, key: &'static str) -> Option<f64> {
    keys.given(key, (0.0, 1e9))
}
