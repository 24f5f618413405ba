//! Tests of crashes, of damage and of files made by a bulk load.

mod bulk_files;
mod crash_loop;
mod damage_table;
mod every_bit;
mod exported;
mod freed_pages;
mod interrupted_fill;
mod messages;
