//! Fleet runs: their rows in the list, and the page of one that is live.

use std::fmt::Write as _;

use report::escape;

use super::stopped::NO_TOKEN;
use super::{address, page};
use crate::FleetState;

/// The fleet runs of the list; nothing if there are none.
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

/// The page of a live fleet run: it asks for itself again.
pub(crate) fn live_fleet(id: &str, fleet: &FleetState, may_change: bool) -> String {
    let mut body = format!(
        "<main>\n<h1>{}</h1>\n<p class=\"state\" role=\"status\"><b>{}</b></p>\n\
         <table class=\"runs\">\n<thead><tr><th>Host</th><th>State</th></tr></thead>\n<tbody>\n",
        escape(&fleet.name),
        escape(&fleet.state)
    );
    for (host, doing) in &fleet.hosts {
        let (host, doing) = (escape(host), escape(doing));
        let _ = writeln!(body, "<tr><th scope=\"row\">{host}</th><td>{doing}</td></tr>");
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
    let page = page(&fleet.name, &body);
    page.replacen("<title>", "<meta http-equiv=\"refresh\" content=\"2\">\n<title>", 1)
}

#[cfg(test)]
mod tests {
    use super::{live_fleet, section};
    use crate::FleetState;

    fn state() -> FleetState {
        let hosts = vec![("EX01".to_owned(), "measuring".to_owned())];
        let (name, state) = ("dag<1".to_owned(), "measuring".to_owned());
        FleetState { name, is_live: true, state, hosts }
    }

    #[test]
    fn a_live_fleet_can_be_stopped_by_those_who_may() {
        let page = live_fleet("runs/dag 1", &state(), true);
        assert!(page.contains("http-equiv=\"refresh\"") && page.contains("dag&lt;1"), "{page}");
        assert!(page.contains("action=\"/stop-fleet/runs/dag%201\""), "{page}");
        assert!(!live_fleet("a", &state(), false).contains("<form"));
    }

    #[test]
    fn a_list_without_fleets_has_no_section_of_them() {
        assert_eq!(section(&[]), "");
        let listed = section(&[("dag1".to_owned(), state())]);
        assert!(listed.contains("href=\"/fleet/dag1\"") && listed.contains("measuring"));
    }
}
