//! The page of a run that goes on; a script fills it from the stream of events.

use report::escape;

use super::{address, page};

/// The page of the run `id`, whose name is `name`.
pub(crate) fn live(id: &str, name: &str) -> String {
    let (place, shown) = (address(id), escape(name));
    let body = format!(
        "<main id=\"live\" data-events=\"/events/{place}\" data-report=\"/run/{place}\">\n\
         <h1>{shown}</h1>\n\
         <p class=\"state\" role=\"status\"><b id=\"phase\">connecting</b> \
         <span id=\"time\"></span></p>\n\
         <p id=\"gone\" class=\"note\" hidden>The stream has broken off; it is asked for \
         again.</p>\n\
         <dl class=\"figures\">\n{}{}{}{}</dl>\n\
         <figure><figcaption><b>Transactional IOPS</b></figcaption>\
         <svg id=\"iops-chart\" viewBox=\"0 0 600 160\" role=\"img\" \
         aria-label=\"Transactional IOPS over time\"></svg></figure>\n\
         <figure><figcaption><b>Mean latency, ms</b><span class=\"legend\">\
         <span><i class=\"ink-read\"></i>Database reads</span>\
         <span><i class=\"ink-log\"></i>Log writes</span></span></figcaption>\
         <svg id=\"latency-chart\" viewBox=\"0 0 600 160\" role=\"img\" \
         aria-label=\"Mean latency over time\"></svg></figure>\n\
         <form method=\"post\" action=\"/stop/{place}\">\
         <button class=\"stop\">Stop the run</button>\
         <p class=\"note\">It ends cleanly, within about 20 s, and reports what it has.</p>\
         </form>\n\
         </main>\n<script src=\"/live.js\"></script>\n",
        figure("iops", "Transactional IOPS"),
        figure("read", "Database reads"),
        figure("log_write", "Log writes"),
        figure("issues", "Errors and warnings"),
    );
    page(&format!("Live: {name}"), &body)
}

fn figure(id: &str, label: &str) -> String {
    format!("<div id=\"{id}\"><dt>{label}</dt><dd><b>-</b><span></span></dd></div>\n")
}
