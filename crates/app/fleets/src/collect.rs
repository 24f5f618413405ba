//! Collects the journals of all hosts in the folder of a fleet run: existing parts are kept,
//! missing ones are requested again, and nothing is written twice.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use carrier::{Carrier, orders};
use fleet::{AgentOrder, Ask, Assembly, FLEET_JOURNAL, FleetRecord, HOSTS, HostPart, encode};
use record::JOURNAL;
use units::Nanos;

use super::records;
use console::Console;
use console::documents;
use console::error::CommandError;
use host::{load_to_digest, write_reports};

/// Interval between checks of the server's stored pieces.
const LOOK: Duration = Duration::from_secs(1);

/// Silence of a lost host's journal after which the host is no longer waited for.
const SILENCE: Duration = Duration::from_secs(10);

/// Time limit for an agent to answer a request to republish a journal.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// How much of one host's journal has arrived.
#[derive(Clone, Copy, Default)]
struct Arrival {
    assembly: Option<Assembly>,
    /// Stream position up to which everything is in the folder; pieces after a gap are read again.
    read_to: u64,
}

impl Arrival {
    fn have(&self) -> u64 {
        self.assembly.map_or(0, |assembly| assembly.have())
    }
}

/// Reads the fleet's own journal in `folder`.
pub(super) fn fleet_record(folder: &Path) -> Result<FleetRecord, CommandError> {
    let path = folder.join(FLEET_JOURNAL);
    let text =
        fs::read_to_string(&path).map_err(|error| CommandError::file(&path, "read", &error))?;
    FleetRecord::load(&text)
        .map_err(|error| CommandError::new(format!("{}: {error}", path.display())))
}

/// The folder of one host's record.
pub(super) fn host_folder(folder: &Path, index: usize, host: &HostPart) -> PathBuf {
    let name = plan::sound_name(&host.name).unwrap_or_else(|| format!("host-{index}"));
    folder.join(HOSTS).join(name)
}

/// The folders of the hosts, in their order.
pub(super) fn host_folders(folder: &Path, fleet: &FleetRecord) -> Vec<PathBuf> {
    fleet.hosts.iter().enumerate().map(|(at, host)| host_folder(folder, at, host)).collect()
}

/// Completes the journals in `folder` as far as possible within `patience`, and writes the reports
/// of the hosts with grown journals.
pub(super) fn complete(
    carrier: &Carrier,
    folder: &Path,
    patience: Nanos,
    console: &mut Console,
) -> Result<(), CommandError> {
    let fleet = fleet_record(folder)?;
    let mut arrivals = vec![Arrival::default(); fleet.hosts.len()];
    let (began, mut grown, mut have) = (Instant::now(), Instant::now(), 0);
    let mut has_asked = false;
    loop {
        for (index, host) in fleet.hosts.iter().enumerate() {
            let place = host_folder(folder, index, host);
            take(carrier, &fleet, host, &place, &mut arrivals[index])?;
        }
        let now: u64 = arrivals.iter().map(Arrival::have).sum();
        if now > have {
            (have, grown) = (now, Instant::now());
        }
        let lacking = lacking(&fleet, &arrivals);
        let are_lost = lacking.iter().all(|&host| fleet.hosts[host].is_lost());
        let is_over = began.elapsed().as_nanos() > u128::from(patience.0);
        if lacking.is_empty() || is_over || are_lost && grown.elapsed() > SILENCE {
            break;
        }
        if !has_asked {
            has_asked = true;
            ask_again(carrier, &fleet, &lacking, &arrivals);
        }
        thread::sleep(LOOK);
    }
    let places = host_folders(folder, &fleet);
    let rendered = records::of_each(&places, |_, place| render(place))?;
    for (host, rendered) in fleet.hosts.iter().zip(rendered) {
        if rendered.is_none() {
            console.remark(format_args!("{}: no journal has arrived", host.name))?;
        }
    }
    Ok(())
}

/// Hosts that took part in the measurement but have incomplete journals.
fn lacking(fleet: &FleetRecord, arrivals: &[Arrival]) -> Vec<usize> {
    if fleet.measure_from_ns.is_none() {
        return Vec::new();
    }
    (0..fleet.hosts.len())
        .filter(|&host| {
            let is_whole = arrivals[host].assembly.is_some_and(|of| of.is_complete());
            fleet.hosts[host].agent.is_some() && !is_whole
        })
        .collect()
}

/// Appends the server's pieces that the folder does not contain yet.
fn take(
    carrier: &Carrier,
    fleet: &FleetRecord,
    host: &HostPart,
    place: &Path,
    arrival: &mut Arrival,
) -> Result<(), CommandError> {
    let Some(agent) = &host.agent else { return Ok(()) };
    let journal = place.join(JOURNAL);
    let have = fs::metadata(&journal).map_or(0, |metadata| metadata.len());
    let reading = carrier.kept(&fleet.run, agent, arrival.read_to)?;
    if reading.chunks.is_empty() {
        return Ok(());
    }
    let mut new = Vec::new();
    let mut grown = arrival.assembly.unwrap_or_else(|| Assembly::from(have));
    let mut has_gap = false;
    for chunk in &reading.chunks {
        match grown.take(chunk) {
            Ok(bytes) => new.extend_from_slice(bytes),
            // Pieces after a gap arrive again once the agent has been asked.
            Err(fleet::PieceFault::Gap { .. }) => has_gap = true,
            Err(error) => {
                return Err(CommandError::new(format!(
                    "{}: {error}; keep the folder and report this",
                    journal.display()
                )));
            }
        }
    }
    arrival.assembly = Some(grown);
    if !has_gap {
        arrival.read_to = reading.read_to;
    }
    if new.is_empty() {
        return Ok(());
    }
    documents::make_folder(place)?;
    let wrong = CommandError::of_file(&journal, "write");
    let mut file = OpenOptions::new().create(true).append(true).open(&journal).map_err(wrong)?;
    file.write_all(&new).and_then(|()| file.sync_data()).map_err(wrong)
}

/// Asks the agents of `lacking` to publish the missing pieces. Such an order needs no lease: it
/// changes nothing on the host.
fn ask_again(carrier: &Carrier, fleet: &FleetRecord, lacking: &[usize], arrivals: &[Arrival]) {
    for &host in lacking {
        let Some(agent) = &fleet.hosts[host].agent else { continue };
        let from_byte = arrivals[host].have();
        let order = AgentOrder::Resend { run: fleet.run.clone(), from_byte };
        let ask = Ask { epoch: u64::MAX, number: 0, order };
        // A host that does not answer may have published everything already.
        let _ = carrier.request(orders(agent), encode(&ask), ANSWERS_WITHIN);
    }
}

/// Reads the journal of one host to its end and keeps its digest and reports.
fn render(place: &Path) -> Result<(), CommandError> {
    let record = load_to_digest(place)?;
    Ok(write_reports(place, &record, &verdict::judge(&record))?)
}
