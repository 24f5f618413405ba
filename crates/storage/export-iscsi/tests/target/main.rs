//! The target without a network: its session byte by byte, and connections in virtual time.

mod bounds;
mod connection;
mod fences;
mod malformed;
mod pdus;
mod pipe;
mod session;
