//! Fleet runs: their rows in the list, and the page of one that is live.

use std::fmt::Write as _;

use report::escape;
use units::decimal;

use super::stopped::NO_TOKEN;
use super::{address, page, renewed};
use crate::{FleetHostLoad, FleetState};

const LOAD_HEADS: &str = "<th class=\"number\">IOPS</th><th class=\"number\">Reads, mean</th>\
     <th class=\"number\">Log writes, mean</th>";

/// The fleet runs of the list; empty if there are none.
pub(super) fn section(fleets: &[(String, FleetState)]) -> String {
    if fleets.is_empty() {
        return String::new();
    }
    let mut body = String::from(
        "<section id=\"fleets\">\n<h2>Fleet runs</h2>\n<table class=\"runs\">\n<thead><tr>\
         <th>Run</th><th>State</th><th class=\"number\">Hosts</th></tr></thead>\n<tbody>\n",
    );
    for (id, fleet) in fleets {
        let name = if fleet.name.is_empty() { id } else { &fleet.name };
        let _ = writeln!(
            body,
            "<tr><th scope=\"row\"><a href=\"/fleet/{}\">{}</a><small>{}</small></th><td>{}</td>\
             <td class=\"number\" data-label=\"Hosts\">{}</td></tr>",
            address(id),
            escape(name),
            escape(id),
            escape(&fleet.state),
            fleet.hosts.len()
        );
    }
    body + "</tbody>\n</table>\n</section>\n"
}

/// The cells with the load of a host; empty if its run generates none.
fn load(load: Option<FleetHostLoad>) -> String {
    let cells = load.map_or_else(Default::default, |of| {
        let [read, log] = [of.read_ns, of.log_write_ns].map(|ns| decimal(ns as f64 / 1e6, 2));
        [decimal(of.iops, 0), format!("{read} ms"), format!("{log} ms")]
    });
    let labels = ["IOPS", "Reads", "Log writes"];
    let mut html = String::new();
    for (label, cell) in labels.into_iter().zip(cells) {
        let _ = write!(html, "<td class=\"number\" data-label=\"{label}\">{cell}</td>");
    }
    html
}

/// The page of a live fleet run, which reloads itself.
pub(crate) fn live_fleet(id: &str, fleet: &FleetState, may_change: bool) -> String {
    let mut body = format!(
        "<main>\n<h1>{}</h1>\n<p class=\"state\" role=\"status\"><b>{}</b></p>\n\
         <table class=\"runs\">\n<thead><tr><th>Host</th><th>State</th>{LOAD_HEADS}\
         </tr></thead>\n<tbody>\n",
        escape(&fleet.name),
        escape(&fleet.state)
    );
    for host in &fleet.hosts {
        let (name, state, load) = (escape(&host.name), escape(&host.state), load(host.load));
        let _ = writeln!(body, "<tr><th scope=\"row\">{name}</th><td>{state}</td>{load}</tr>");
    }
    body.push_str(
        "</tbody>\n</table>\n<p class=\"note\">Refreshes every 2 s; the report appears at the \
         end.</p>\n",
    );
    if may_change {
        let _ = writeln!(
            body,
            "<form method=\"post\" action=\"/stop-fleet/{}\"><button class=\"stop\">Stop the \
             fleet</button></form>",
            address(id)
        );
    } else {
        body.push_str(NO_TOKEN);
    }
    body.push_str("</main>\n");
    renewed(&page(&fleet.name, &body), 2)
}

#[cfg(test)]
mod tests {
    use super::{live_fleet, section};
    use crate::{FleetHostLoad, FleetHostState, FleetState};

    fn state() -> FleetState {
        let (name, state) = ("EX01".to_owned(), "measuring".to_owned());
        let load = FleetHostLoad { iops: 1_234.4, read_ns: 3_210_000, log_write_ns: 520_000 };
        let hosts = vec![FleetHostState { name, state, load: Some(load) }];
        let (name, state) = ("dag<1".to_owned(), "measuring".to_owned());
        FleetState { name, is_live: true, state, hosts }
    }

    #[test]
    fn a_live_fleet_can_be_stopped_by_those_who_may() {
        let page = live_fleet("runs/dag 1", &state(), true);
        assert!(page.contains("/renew.js") && page.contains("dag&lt;1"), "{page}");
        assert!(page.contains("action=\"/stop-fleet/runs/dag%201\""), "{page}");
        assert!(!live_fleet("a", &state(), false).contains("<form"));
    }

    #[test]
    fn a_live_host_shows_what_it_carries_and_a_lost_one_nothing() {
        let mut fleet = state();
        let page = live_fleet("a", &fleet, false);
        for cell in [">1,234</td>", ">3.21 ms</td>", ">0.52 ms</td>"] {
            assert!(page.contains(cell), "{page}");
        }
        fleet.hosts[0].load = None;
        assert!(!live_fleet("a", &fleet, false).contains(" ms</td>"));
    }

    #[test]
    fn a_list_without_fleets_has_no_section_of_them() {
        assert_eq!(section(&[]), "");
        let listed = section(&[("dag1".to_owned(), state())]);
        assert!(listed.contains("href=\"/fleet/dag1\"") && listed.contains("measuring"));
    }
}
