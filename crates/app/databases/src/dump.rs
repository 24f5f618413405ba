//! `dump`: one page, field by field and node by node, damaged or not.

pub(crate) mod flags;

use std::path::Path;

use ese::checksum::{PageVerdict, verify};
use ese::page::{PageRef, PageSize};
use ese::page_check;
use ese::reader::PageSource as _;
use host::pages::FilePages;
use host::scan::truncations;
use serde_json::{Value, json};
use units::{PageNumber, hexadecimal};

use super::check::fault_text;
use super::genuine_log;
use console::Console;
use console::Outcome;
use console::error::CommandError;
use flags::DumpFlags;

/// Bytes of a key or of data shown in a line.
const SHOWN: usize = 48;

/// Prints the page; fails if it is damaged.
pub(crate) fn run(flags: &DumpFlags, console: &mut Console) -> Result<Outcome, CommandError> {
    if genuine_log::holds_logs(&flags.file) {
        return genuine_log::dump::run(flags, console);
    }
    let mut pages = FilePages::open_database(&flags.file)?;
    let (number, last) = (asked_page(flags)?, pages.page_count());
    if number.0 == 0 || number.0 > last {
        return Err(no_page(&flags.file, pages.page_size(), (number, last)));
    }
    let bytes = pages.raw(number)?;
    let page = PageRef::new(&bytes);
    let verdict = verify(&bytes, number);
    let state = state(&verdict, page, number);
    if flags.json {
        console.answer_json("page", as_json(page, number, &state))?;
    } else {
        for (name, value) in fields(page, number, &state) {
            console.answer(format_args!("{name:<16} {value}"))?;
        }
        for line in 0..page.node_count() {
            console.answer(node_line(page, line))?;
        }
    }
    let sound = matches!(verdict, PageVerdict::Good | PageVerdict::Uninitialised);
    Ok(if sound { Outcome::Pass } else { Outcome::Fail })
}

/// Why the file does not have a page: it may have lost it.
fn no_page(path: &Path, size: PageSize, (page, last): (PageNumber, u32)) -> CommandError {
    let faults = truncations(path, size);
    if page.0 > last && !faults.is_empty() {
        let consequence = format!("it has no page {page}");
        return CommandError::Damage(fault_text(path, &faults, &consequence));
    }
    let path = path.display();
    CommandError::new(format!("{path}: has no page {page}; give a number from 1 to {last}"))
}

/// Page requested from a database.
fn asked_page(flags: &DumpFlags) -> Result<PageNumber, CommandError> {
    let path = flags.file.display();
    let Some(page) = flags.page else {
        return Err(CommandError::usage(format!(
            "{path}: name a page of the database with --page"
        )));
    };
    if flags.table.is_some() {
        let text = format!("{path}: --table is for logs; `plimsoll export` prints tables");
        return Err(CommandError::usage(text));
    }
    Ok(PageNumber(page))
}

fn state(verdict: &PageVerdict, page: PageRef<'_>, number: PageNumber) -> String {
    match verdict {
        PageVerdict::Good => match page_check::check(page, number) {
            Ok(()) => "good".to_owned(),
            Err(fault) => format!("checksum good, but {fault}"),
        },
        PageVerdict::Uninitialised => "all zeros: wiped or never written".to_owned(),
        PageVerdict::FlippedZero { bit } => format!(
            "all zeros but for byte {} bit {}: flipped in a page that was never written",
            bit / 8,
            bit % 8
        ),
        PageVerdict::Correctable { bits } => {
            let places: Vec<String> =
                bits.iter().map(|bit: &u32| format!("byte {} bit {}", bit / 8, bit % 8)).collect();
            format!("one bit flipped, correctable: {}", places.join(", "))
        }
        PageVerdict::FlippedChecksum { bit } => {
            format!("one bit of the page's own checksum flipped: byte {} bit {}", bit / 8, bit % 8)
        }
        PageVerdict::WrongPage { really } => format!("the page belongs at {really}"),
        PageVerdict::Bad { block, stored, computed } => {
            format!("block {block} has checksum {stored:#018x}, its bytes give {computed:#018x}")
        }
    }
}

fn fields(page: PageRef<'_>, number: PageNumber, state: &str) -> Vec<(&'static str, String)> {
    vec![
        ("page", number.to_string()),
        ("state", state.to_owned()),
        ("flags", page.flag_names().join(" ")),
        ("flush type", page.flush_type().to_string()),
        ("database time", format!("{:#x}", page.dbtime())),
        ("object", page.object().to_string()),
        ("previous", page.previous().to_string()),
        ("next", page.next().to_string()),
        ("free bytes", page.free_bytes().to_string()),
        ("reserved tags", page.reserved_tags().to_string()),
        ("nodes", page.node_count().to_string()),
        ("external header", shown(page.external_header())),
    ]
}

fn node_line(page: PageRef<'_>, line: usize) -> String {
    let Some(node) = page.node(line) else {
        return format!("{line:>5}  damaged: its bytes make no node");
    };
    let target = match page.child(line).filter(|_| !page.is_leaf()) {
        Some(child) => format!("page {child}"),
        None => format!("{} bytes {}", node.data.len(), shown(node.data)),
    };
    let flags = node.flag_names().join(" ");
    format!("{line:>5}  key {} -> {target} {flags}", shown(&node.key()))
}

fn as_json(page: PageRef<'_>, number: PageNumber, state: &str) -> Value {
    let nodes = page.nodes().enumerate().map(|(line, node)| {
        json!({
            "line": line,
            "flags": node.flags,
            "key": hexadecimal(&node.key()),
            "data": hexadecimal(node.data),
        })
    });
    json!({
        "page": number.0,
        "state": state,
        "flags": page.flags(),
        "flush_type": page.flush_type(),
        "dbtime": page.dbtime(),
        "object": page.object().0,
        "previous": page.previous().0,
        "next": page.next().0,
        "free_bytes": page.free_bytes(),
        "reserved_tags": page.reserved_tags(),
        "external_header": hexadecimal(page.external_header()),
        "nodes": nodes.collect::<Vec<_>>(),
    })
}

fn shown(bytes: &[u8]) -> String {
    let mut text = hexadecimal(&bytes[..bytes.len().min(SHOWN)]);
    if bytes.len() > SHOWN {
        text.push_str("...");
    }
    text
}
