//! The lease of the one controller. The server counts its revisions and ends it if it is not
//! renewed, so two controllers never both believe that they hold the fleet for longer than the
//! lease lasts.

use std::time::Duration;

use async_nats::jetstream::kv;

use crate::keys::stream_of;
use crate::{Carrier, CarrierError};

const BUCKET: &str = "plimsoll-lease";
const KEY: &str = "controller";

/// The server forgets a lease that was not renewed within this time.
const LASTS: Duration = Duration::from_secs(15);

/// The right to control a fleet.
#[derive(Debug)]
pub struct Lease {
    bucket: kv::Store,
    holder: String,
    epoch: u64,
    revision: u64,
}

impl Lease {
    /// Epoch of the lease, larger than that of every earlier lease on this server.
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the longest interval between renewals.
    pub const fn renew_every(&self) -> Duration {
        Duration::from_secs(LASTS.as_secs() / 5)
    }
}

impl Carrier {
    /// Takes the lease for `holder`, a sentence about this controller.
    pub fn take_lease(&self, holder: String) -> Result<Lease, CarrierError> {
        let bucket = self.lease_bucket()?;
        let value = holder.clone().into_bytes();
        match self.wait("take the lease", bucket.create(KEY, value.into())) {
            Ok(revision) => Ok(Lease { bucket, holder, epoch: revision, revision }),
            Err(error) => match self.wait("read the lease", bucket.get(KEY))? {
                Some(by) => {
                    Err(CarrierError::Held { by: String::from_utf8_lossy(&by).into_owned() })
                }
                None => Err(error),
            },
        }
    }

    /// Renews the lease. If that fails with [`CarrierError::LeaseLost`], stop controlling.
    pub fn renew_lease(&self, lease: &mut Lease) -> Result<(), CarrierError> {
        let value = lease.holder.clone().into_bytes();
        let renewed = lease.bucket.update(KEY, value.into(), lease.revision);
        match self.wait("renew the lease", renewed) {
            Ok(revision) => {
                lease.revision = revision;
                Ok(())
            }
            Err(CarrierError::Silence { seconds }) => Err(CarrierError::Silence { seconds }),
            Err(_) if self.is_connected() => Err(CarrierError::LeaseLost),
            Err(error) => Err(error),
        }
    }

    /// Gives the lease back, so that the next controller need not wait for its end.
    pub fn release_lease(&self, lease: &Lease) -> Result<(), CarrierError> {
        self.wait("release the lease", lease.bucket.delete(KEY))
    }

    /// Returns the lease holder's description of itself.
    pub fn lease_holder(&self) -> Result<Option<String>, CarrierError> {
        let held = self.wait("read the lease", self.lease_bucket()?.get(KEY))?;
        Ok(held.map(|by| String::from_utf8_lossy(&by).into_owned()))
    }

    /// Explains missing permission: a server does not answer a request that these credentials may
    /// not make.
    fn may_not_control(&self, error: CarrierError) -> CarrierError {
        match error {
            CarrierError::Silence { .. } if self.is_connected() => CarrierError::Access {
                why: "the NATS server does not let these credentials control a fleet: use \
                      controller.json, not agent.json"
                    .to_owned(),
            },
            error => error,
        }
    }

    fn lease_bucket(&self) -> Result<kv::Store, CarrierError> {
        let stream = stream_of(BUCKET, LASTS, LASTS);
        let made = self.make_stream("make the bucket of the lease", &stream);
        made.map_err(|error| self.may_not_control(error))?;
        self.wait("open the bucket of the lease", self.jetstream.get_key_value(BUCKET))
    }
}
