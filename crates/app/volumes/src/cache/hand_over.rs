//! `cache hand-over`: moves a volume to its other host, with its dirty data and its hot blocks.

use std::time::{Duration, Instant};

use carrier::{Bucket, Carrier, CarrierError};
use mirror::Config;

use super::flags::CacheHandOverFlags;
use super::mirror::{self as shared, VolumeValue};
use console::Console;
use console::Outcome;
use console::error::CommandError;
use fleets::access;

/// Time limit for the volume's server to answer an order.
const ANSWERS_WITHIN: Duration = Duration::from_secs(3);

/// Time limit of a hand-over; beyond it, the serving host has given up.
const ENDS_WITHIN: Duration = Duration::from_secs(15);

/// Interval between checks of the configuration.
const LOOK: Duration = Duration::from_millis(20);

/// Orders the hand-over and waits for its end.
pub(super) fn run(
    flags: &CacheHandOverFlags,
    console: &mut Console,
) -> Result<Outcome, CommandError> {
    let credentials = flags.credentials.as_deref();
    let access = access::access(Some(&flags.server), credentials, "plimsoll cache hand-over")?;
    let carrier = Carrier::connect(&access)?;
    let bucket = shared::configurations(&carrier)?;
    let found = value(flags, &carrier, &bucket)?;
    if !found.hosts.contains(&flags.host) {
        return Err(CommandError::new(format!(
            "{}: is no host of {}; its hosts are {} and {}",
            flags.host, flags.volume, found.hosts[0], found.hosts[1]
        )));
    }
    let source = shared::owner(&found).to_owned();
    if source == flags.host {
        console.answer(format_args!("{}: already with {}", flags.volume, flags.host))?;
        return Ok(Outcome::Pass);
    }
    order(flags, &carrier, &source)?;
    let begun = Instant::now();
    wait(flags, &carrier, &bucket, found.config)?;
    console.answer(format_args!(
        "{}: moved from {source} to {} in {:.1} s",
        flags.volume,
        flags.host,
        begun.elapsed().as_secs_f64()
    ))?;
    Ok(Outcome::Pass)
}

fn value(
    flags: &CacheHandOverFlags,
    carrier: &Carrier,
    bucket: &Bucket,
) -> Result<VolumeValue, CommandError> {
    shared::volume_value(carrier, bucket, &flags.volume)?.ok_or_else(|| {
        CommandError::new(format!(
            "{}: the NATS server at {} knows no such volume; check the name and --server",
            flags.volume, flags.server
        ))
    })
}

fn order(flags: &CacheHandOverFlags, carrier: &Carrier, source: &str) -> Result<(), CommandError> {
    let subject = shared::orders(&flags.volume, source);
    let answer = carrier.request(subject, b"hand-over".to_vec(), ANSWERS_WITHIN);
    let why = match answer {
        Ok(text) if text.is_empty() => return Ok(()),
        Ok(text) => String::from_utf8_lossy(&text).into_owned(),
        Err(CarrierError::Silence { .. } | CarrierError::Refused { .. }) => {
            "it does not answer".to_owned()
        }
        Err(error) => error.to_string(),
    };
    Err(CommandError::new(format!(
        "{}: {source} has the volume, but {why}; if that host is down, {} takes over by itself",
        flags.volume, flags.host
    )))
}

/// Waits until the other host owns the volume.
fn wait(
    flags: &CacheHandOverFlags,
    carrier: &Carrier,
    bucket: &Bucket,
    before: Config,
) -> Result<(), CommandError> {
    let limit = Instant::now() + ENDS_WITHIN;
    while Instant::now() < limit {
        let now = value(flags, carrier, bucket)?;
        if now.config.epoch > before.epoch && shared::owner(&now) == flags.host {
            return Ok(());
        }
        std::thread::sleep(LOOK);
    }
    Err(CommandError::new(format!(
        "{}: the source gave the hand-over up and serves on; check with `plimsoll cache status` \
         that {} runs and has a complete copy",
        flags.volume, flags.host
    )))
}
