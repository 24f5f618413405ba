//! The pages that are not reports: the list, the live run, and a sentence if there is nothing else
//! to show. They share the style of the reports.

mod caches;
mod fleet;
mod labels;
mod list;
mod live;
mod simulate;
mod size;
mod stopped;
mod trend;
mod volumes;

use std::fmt::Write as _;

pub(crate) use caches::caches;
pub(crate) use fleet::live_fleet;
pub(crate) use labels::labels;
pub(crate) use list::{RunsShown, StartForm, list};
pub(crate) use live::live;
pub(crate) use simulate::{SimulationForm, simulating, simulation, simulation_without_token};
pub(crate) use size::{SizingForm, sizing};
pub(crate) use stopped::{ask_to_stop, preparing, with_resumption};
pub(crate) use trend::trend;
pub(crate) use volumes::volumes;

use crate::sets::ServedSet;
use crate::summary::VolumeIdentity;

/// Styles of these pages, in addition to those of reports.
const STYLE: &str = include_str!("pages/style.css");

/// The complete style of these pages.
pub(crate) fn style() -> String {
    [report::STYLE, STYLE].concat()
}

/// Shows times in the viewer's time zone.
pub(crate) const TIMES: &str = include_str!("pages/times.js");

/// Opens the form for a run's labels within the list.
pub(crate) const LABELS_SCRIPT: &str = include_str!("pages/labels.js");

/// Renews pages that change.
pub(crate) const RENEW: &str = include_str!("pages/renew.js");

/// Updates the page of the live run.
pub(crate) const SCRIPT: &str = include_str!("pages/live.js");

/// A page with this title around `body`.
fn page(title: &str, body: &str) -> String {
    let title = report::escape(title);
    let html = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/style.css\">\n\
         </head>\n<body>\n<nav class=\"colophon\" aria-label=\"Site\">\
         <a href=\"/\">Plimsoll runs</a></nav>\n{body}\
         </body>\n</html>\n"
    );
    report::served_page(&units::plain(&html))
}

/// `page`, renewed in place every few seconds; by reloads in a browser without scripts.
fn renewed(page: &str, seconds: u32) -> String {
    let how = format!(
        "<noscript><meta http-equiv=\"refresh\" content=\"{seconds}\"></noscript>\n\
         <script defer src=\"/renew.js\" data-seconds=\"{seconds}\"></script>\n<title>"
    );
    page.replacen("<title>", &how, 1)
}

/// A report as a page of the server: with a link back to the list, and further links, as addresses
/// and titles.
pub(crate) fn of_report(report: &str, further: &[(String, &str)]) -> String {
    let mut links =
        String::from("<nav class=\"way-back\" aria-label=\"Site\"><a href=\"/\">Plimsoll runs</a>");
    for (place, label) in further {
        let _ = write!(links, " <a href=\"{}\">{label}</a>", report::escape(place));
    }
    let page = report::served_page(report);
    page.replacen("<body>\n", &format!("<body>\n{links}</nav>\n"), 1)
}

/// Links to the machine-readable figures of a run or a set.
pub(crate) fn for_programs(id: &str) -> [(String, &'static str); 2] {
    let place = address(id);
    [(format!("/csv/{place}"), "CSV"), (format!("/json/{place}"), "JSON")]
}

/// The report of a set of tests, with links to the reports of its tests.
pub(crate) fn of_set(set: &ServedSet, report: &str) -> String {
    let mut tests = Vec::new();
    for test in &set.tests {
        let place = if test.is_live { "live" } else { "run" };
        let label = test.line().map_or("Test", |line| line.test.as_str());
        tests.push((format!("/{place}/{}", address(&test.id)), label));
    }
    tests.extend(for_programs(&set.id));
    of_report(report, &tests)
}

/// The choices of a list.
fn options(all: &[String], chosen: &str) -> String {
    let mut html = String::new();
    for value in all {
        let state = if value == chosen { " selected" } else { "" };
        let value = report::escape(value);
        let _ = writeln!(html, "<option value=\"{value}\"{state}>{value}</option>");
    }
    html
}

/// Why a form was rejected, shown above it.
fn problem(why: Option<&str>) -> String {
    let said =
        why.map(|why| format!("<p class=\"problem\" role=\"alert\">{}</p>\n", report::escape(why)));
    said.unwrap_or_default()
}

/// A page with a single sentence.
pub(crate) fn sentence(title: &str, sentence: &str) -> String {
    let (heading, text) = (report::escape(title), report::escape(sentence));
    page(title, &format!("<main>\n<h1>{heading}</h1>\n<p>{text}</p>\n</main>\n"))
}

/// Percent-encodes a run's name as a part of an address; `/` is kept.
pub(crate) fn address(id: &str) -> String {
    let mut address = String::with_capacity(id.len());
    for byte in id.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~/".contains(&byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

/// An address followed by these fields.
pub(crate) fn with_fields(place: &str, fields: &[(String, String)]) -> String {
    let mut whole = place.to_owned();
    for (index, (name, value)) in fields.iter().enumerate() {
        let separator = if index == 0 { '?' } else { '&' };
        let _ = write!(whole, "{separator}{}={}", address(name), address(value));
    }
    whole
}

/// The address of the page of a volume.
fn volume_address(volume: &VolumeIdentity) -> String {
    let VolumeIdentity { machine, mount, model, size_bytes } = volume;
    let [machine, mount, model] = [machine, mount, model].map(|part| address(part));
    format!("/trend?machine={machine}&mount={mount}&model={model}&bytes={size_bytes}")
}
