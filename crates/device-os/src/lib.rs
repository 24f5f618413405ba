//! Devices and clocks of the operating system.
