//! Tests of `table`.

use std::collections::BTreeSet;

use super::push_table;
use crate::document::{Cell, Column, ColumnRole, Table, TableRow};

const SENTENCE: &str = "the queue database takes up to 1,156 GB of the system disk, 1,306 GB with \
                        the system; no system disk is given";

fn keyed() -> Table {
    let key = Column { role: ColumnRole::Key, ..Column::text("key for --explain") };
    let rows = [
        ["mailboxes of a database", "1,096", "srv.active_mailboxes_normal"],
        ["reads of a server", "2,345", "io.db_reads_per_server"],
    ];
    Table {
        caption: "Numbers.",
        columns: vec![Column::text("what"), Column::numbers("value"), key],
        rows: rows.map(|row| TableRow::body(row.map(Cell::plain).to_vec())).to_vec(),
    }
}

fn findings() -> Table {
    let row = ["warning", "room needed on a system disk", SENTENCE, SENTENCE];
    Table {
        caption: "The worst first.",
        columns: ["weight", "about", "problem", "fix"].map(Column::text).to_vec(),
        rows: vec![TableRow::body(row.map(Cell::plain).to_vec())],
    }
}

fn printed(table: &Table, width: usize) -> String {
    let mut text = String::new();
    push_table(&mut text, table, width);
    text
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().collect()
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_word_is_broken() {
    for table in [keyed(), findings()] {
        for width in [40, 60, 80, 100, 120] {
            let text = printed(&table, width);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            for row in &table.rows {
                for cell in &row.cells {
                    let missing: Vec<&str> =
                        words(&cell.text).difference(&words(&text)).copied().collect();
                    assert!(missing.is_empty(), "{width}: {missing:?}\n{text}");
                }
            }
        }
    }
}

#[test]
fn keys_go_below_the_first_column_where_they_do_not_fit_beside_it() {
    let wide = printed(&keyed(), 80);
    assert!(wide.contains("mailboxes of a database  1,096  srv.active"), "{wide}");
    let narrow = printed(&keyed(), 45);
    assert!(narrow.contains("\n  srv.active_mailboxes_normal\n"), "{narrow}");
    assert_eq!(narrow.matches("reads of a server").count(), 1, "{narrow}");
}

#[test]
fn a_table_of_sentences_becomes_a_list_where_it_does_not_fit() {
    let mut table = findings();
    table.rows[0].cells[3] = Cell::plain("raise availability.servers_per_site_of_both_sites");
    let list = printed(&table, 60);
    assert!(list.contains("weight: warning\n  about: room needed"), "{list}");
    assert!(list.contains("\n  fix: raise"), "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 60), "{list}");
}

#[test]
fn a_wide_table_of_numbers_is_printed_in_parts() {
    let columns = (0..9).map(|_| Column::numbers("IOPS of all")).collect::<Vec<_>>();
    let row = (0..9).map(|at| Cell::plain(format!("1,234,56{at}"))).collect();
    let table = Table { caption: "Loads.", columns, rows: vec![TableRow::body(row)] };
    let text = printed(&table, 60);
    assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
    assert_eq!(text.matches("1,234,560").count(), 3, "{text}");
}

/// A deployment has a row for each host before and after each event.
#[test]
fn every_part_of_a_wide_table_names_its_rows() {
    let text = ["From", "During", "Host"].map(Column::text);
    let numbers = (0..6).map(|_| Column::numbers("IOPS of all"));
    let columns = text.into_iter().chain(numbers).collect();
    let event = "host-lost=EX01@2h, while the others serve";
    let rows = ["00:00", "02:00"].into_iter().flat_map(|from| {
        ["EX01", "EX02"].map(|host| {
            let names = [from, event, host].map(Cell::plain).to_vec();
            TableRow::body([names, vec![Cell::plain("1,234,567"); 6]].concat())
        })
    });
    let table = Table { caption: "Hosts.", columns, rows: rows.collect() };
    let text = printed(&table, 70);
    let parts: Vec<&str> = text.split("\n\n").collect();
    assert!(parts.len() > 1, "{text}");
    for part in parts {
        for name in ["From", "Host", "00:00", "02:00", "EX01", "EX02"] {
            assert!(part.contains(name), "{name}: {text}");
        }
    }
    assert_eq!(text.matches("During").count(), 1, "{text}");
}

/// Columns of 14 to 22 characters would fit side by side, and take a dozen lines for a sentence.
#[test]
fn sentences_are_not_squeezed_between_other_columns() {
    let row = ["fail", SENTENCE, SENTENCE, "short"];
    let table = Table {
        caption: "The worst first.",
        columns: ["weight", "problem", "fix", "by"].map(Column::text).to_vec(),
        rows: vec![TableRow::body(row.map(Cell::plain).to_vec())],
    };
    let list = printed(&table, 60);
    assert!(list.contains("weight: fail\n  problem: the queue"), "{list}");
    let beside = printed(&table, 100);
    assert!(beside.contains("weight  problem"), "{beside}");
}
