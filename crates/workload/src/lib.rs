//! The seeded mailbox transaction mix: no handle, no clock.
