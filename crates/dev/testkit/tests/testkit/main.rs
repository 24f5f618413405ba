//! Tests of crashes, damage, and files of our own and of other engines. They share one program,
//! because each test program links the whole engine.

mod bulk_files;
mod crash_loop;
mod damage_table;
mod every_bit;
mod fault_volume;
mod freed_pages;
mod interrupted_fill;
mod peers_agree_on_samples;
mod samples;
