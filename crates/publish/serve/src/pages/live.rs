//! The page of a live run; a script fills it from the stream of events.

use report::escape;

use super::{address, page};

/// The page of the run `id`, whose name is `name`.
pub(crate) fn live(id: &str, name: &str, may_change: bool) -> String {
    let (place, shown) = (address(id), escape(name));
    let stop = if may_change {
        format!("<p><a class=\"stop\" href=\"/stop/{place}\">Stop the run</a></p>\n")
    } else {
        String::new()
    };
    let body = format!(
        "<main id=\"live\" data-events=\"/events/{place}\">\n\
         <h1>{shown}</h1>\n\
         <p class=\"state\" role=\"status\"><b id=\"phase\">connecting</b> \
         <span id=\"time\"></span></p>\n\
         <p id=\"gone\" class=\"note\" hidden>The stream has broken off; it is asked for \
         again.</p>\n\
         <dl class=\"figures\">\n{}{}{}{}</dl>\n\
         <div class=\"charts\">\n{}{}{}</div>\n\
         {LOADS}{DECISIONS}{stop}\
         <noscript><p>This page moves by script; without it, look at the list again.</p>\
         </noscript>\n\
         </main>\n<script src=\"/live.js\"></script>\n<script src=\"/crosshair.js\"></script>\n",
        figure("iops", "Transactional IOPS"),
        figure("read", "Database reads"),
        figure("log_write", "Log writes"),
        figure("issues", "Errors and warnings"),
        chart("iops-chart", "Transactional IOPS", "wide", ""),
        chart("latency-chart", "Mean latency, ms", "live", KINDS),
        chart("histogram", "Requests of this phase by latency, %", "live", KINDS),
    );
    page(&format!("Live: {name}"), &body)
}

/// The legend of both latency charts.
const KINDS: &str = "<span class=\"legend\"><span><i class=\"ink-read\"></i>Database reads</span>\
     <span><i class=\"ink-log\"></i>Log writes</span></span>";

/// The loads of a search for the load line; shown for a run that is one of them.
const LOADS: &str = "<section id=\"loads\" aria-labelledby=\"loads-title\" hidden>\n\
     <h2 id=\"loads-title\">Loads of this search</h2>\n\
     <table class=\"narrow\"><caption>Each load holds or does not; the next one follows from \
     that.</caption>\n<thead><tr><th scope=\"col\">Load</th>\
     <th scope=\"col\" class=\"number\">IOPS asked for</th>\
     <th scope=\"col\" class=\"number\">IOPS reached</th>\
     <th scope=\"col\">Verdict</th></tr></thead>\n\
     <tbody></tbody></table>\n</section>\n";

/// Loads tried by the tuner, and the rest of the test log.
const DECISIONS: &str = "<section aria-labelledby=\"decisions-title\">\n\
     <h2 id=\"decisions-title\">Decisions</h2>\n\
     <ol id=\"decisions\" class=\"log\" role=\"log\"></ol>\n</section>\n";

fn figure(id: &str, label: &str) -> String {
    format!("<div id=\"{id}\"><dt>{label}</dt><dd><b>-</b><span></span></dd></div>\n")
}

/// An empty chart, which can be read by keyboard once it is drawn.
fn chart(id: &str, title: &str, class: &str, legend: &str) -> String {
    let width = if class == "wide" { 1000 } else { 490 };
    format!(
        "<figure class=\"{class}\"><figcaption><b>{title}</b>{legend}</figcaption>\
         <svg id=\"{id}\" viewBox=\"0 0 {width} 200\" role=\"img\" tabindex=\"0\" \
         aria-label=\"{title}\"></svg></figure>\n"
    )
}
