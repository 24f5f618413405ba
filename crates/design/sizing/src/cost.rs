//! Price, rack units and power of the hardware, as far as the deployment states them, so that
//! designs can be ranked by these. A part without a price is in no sum, and its key is absent.

use plan::deployment::Prices;

use crate::key::Key;
use crate::number::{Number, sum};
use crate::work::Work;

/// Hours of a year.
const HOURS: f64 = 8_766.0;

/// Computes every sum for which there is a price.
pub(crate) fn cost(work: &mut Work<'_>) {
    let Some(prices) = &work.deployment.prices else {
        return;
    };
    let mut parts = purchases(work, prices);
    parts.extend(running(work, prices));
    if !parts.is_empty() {
        work.put(Key::CostAll, sum(parts));
    }
}

/// One-time purchases.
fn purchases(work: &mut Work<'_>, prices: &Prices) -> Vec<Number> {
    let lines = [
        (Key::CostServers, Key::ServerAll, Key::PricesServer, prices.server),
        (Key::CostMemory, Key::MemoryAllGb, Key::PricesMemoryGb, prices.memory_gb),
        (Key::CostDisks, Key::DiskAll, Key::PricesDisk, prices.disk),
        (Key::CostSystemDisks, Key::DiskSystemAll, Key::PricesSystemDisk, prices.system_disk),
        (Key::CostSsds, Key::MetaCacheSsdsAll, Key::PricesSsd, prices.ssd),
    ];
    let mut parts = Vec::new();
    for (cost, count, key, price) in lines {
        if let (Some(count), Some(price)) = (work.sheet.find(count), price) {
            let price = work.sheet.input(key, price);
            parts.push(work.put(cost, count * price));
        }
    }
    parts
}

/// Rack space and energy over the given number of years.
fn running(work: &mut Work<'_>, prices: &Prices) -> Vec<Number> {
    let mut parts = Vec::new();
    let servers = work.get(Key::ServerAll);
    let years = work.sheet.input(Key::PricesYears, prices.years);
    if let Some(units) = prices.server_rack_units {
        let units = work.sheet.input(Key::PricesServerRackUnits, units);
        let units = work.put(Key::RackUnitsAll, &servers * units);
        if let Some(price) = prices.rack_unit_year {
            let price = work.sheet.input(Key::PricesRackUnitYear, price);
            parts.push(work.put(Key::CostRack, units * price * &years));
        }
    }
    if let Some(watts) = prices.server_watts {
        let watts = work.sheet.input(Key::PricesServerWatts, watts);
        let disk = work.sheet.input(Key::PricesDiskWatts, prices.disk_watts.unwrap_or(0.0));
        let all = servers * watts + work.get(Key::DiskAll) * disk;
        let all = work.put(Key::PowerAllWatts, all);
        if let Some(price) = prices.kilowatt_hour {
            let price = work.sheet.input(Key::PricesKilowattHour, price);
            parts.push(work.put(Key::CostEnergy, all / 1_000.0 * HOURS * years * price));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use plan::Deployment;

    use crate::{Key, ServerKind, calculate};

    const SHORT: &str = "[[tier]]\nmailboxes = 5000\nmessages_per_day = 100\n\
                         size_limit = \"2GiB\"\n[availability]\nservers_per_site = 4\ncopies = 3\n";

    /// By hand, for 4 servers: 4 * 6000 + disks * 250; 8 rack units at 300 for 5 years; 4 * 350 W
    /// and 8 W for each disk at 0.25 per kilowatt hour.
    #[test]
    fn what_has_a_price_is_summed_and_nothing_else() {
        let text = format!(
            "{SHORT}[prices]\nserver = 6000\ndisk = 250\nserver_rack_units = 2\n\
             rack_unit_year = 300\nserver_watts = 350\ndisk_watts = 8\nkilowatt_hour = 0.25\n"
        );
        let deployment = Deployment::parse("d.toml", &text).expect("a deployment");
        let calculation = calculate(&deployment);
        let number = |key| calculation.sheet().number(key);
        let disks = number(Key::DiskAll).expect("disks");
        assert_eq!(number(Key::CostServers), Some(24_000.0));
        assert_eq!(number(Key::CostRack), Some(12_000.0));
        assert_eq!(number(Key::PowerAllWatts), Some(1_400.0 + 8.0 * disks));
        assert_eq!((number(Key::CostMemory), number(Key::CostSsds)), (None, None));
        let energy = (1.4 + 0.008 * disks) * 8_766.0 * 5.0 * 0.25;
        let all = 36_000.0 + 250.0 * disks + energy;
        assert!(number(Key::CostAll).is_some_and(|found| (found - all).abs() < 1e-6));
    }

    #[test]
    fn no_less_memory_is_bought_than_the_vendor_supports() {
        let text = format!("{SHORT}[prices]\nmemory_gb = 5\n[figures]\nmemory_minimum_gb = 1024\n");
        let deployment = Deployment::parse("d.toml", &text).expect("a deployment");
        let calculation = calculate(&deployment);
        let number = |key| calculation.sheet().number(key);
        assert!(number(Key::MemoryRamGb(ServerKind::First)).is_some_and(|each| each < 1_024.0));
        assert_eq!(number(Key::MemoryAllGb), Some(4.0 * 1_024.0));
        assert_eq!(number(Key::CostMemory), Some(4.0 * 1_024.0 * 5.0));
    }

    #[test]
    fn without_prices_there_is_no_cost() {
        let deployment = Deployment::parse("d.toml", SHORT).expect("a deployment");
        assert_eq!(calculate(&deployment).sheet().number(Key::CostAll), None);
    }
}
