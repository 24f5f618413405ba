//! The target: its session byte by byte, connections in virtual time, and our own initiator over
//! loopback.

mod bounds;
mod connection;
mod fences;
mod initiator;
mod malformed;
mod pdus;
mod pipe;
mod session;
