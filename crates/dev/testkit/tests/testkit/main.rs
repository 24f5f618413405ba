//! Tests of volumes with faults and of files of other engines. They share one program, because each
//! test program links the whole engine.

mod fault_volume;
mod peers_agree_on_samples;
mod samples;
