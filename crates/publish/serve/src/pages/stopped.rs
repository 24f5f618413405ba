//! Pages between a button and its action: confirming a stop, resuming a stopped run, filling
//! databases.

use report::escape;

use super::{address, page, renewed};
use crate::FillProgress;

/// Asks for confirmation before stopping the run `id` called `name`.
pub(crate) fn ask_to_stop(id: &str, name: &str, may_change: bool) -> String {
    let (place, shown) = (address(id), escape(name));
    let button = if may_change {
        format!(
            "<form method=\"post\" action=\"/stop/{place}\">\
             <button class=\"stop\">Stop the run</button></form>\n"
        )
    } else {
        NO_TOKEN.to_owned()
    };
    let body = format!(
        "<main>\n<h1>Stop {shown}?</h1>\n\
         <p>It ends cleanly, within about 20 s, and reports what it has measured. You can \
         resume it from its report until another program opens its databases.</p>\n{button}\
         <p><a href=\"/live/{place}\">Keep it running</a></p>\n</main>\n"
    );
    page(&format!("Stop {name}?"), &body)
}

/// Shown instead of a form that would be rejected.
pub(super) const NO_TOKEN: &str = "<p class=\"note\">Open the address that `plimsoll serve` \
     printed, token included, to start, stop or prepare anything from here.</p>\n";

/// The report of a resumable run, with the button above it.
pub(crate) fn with_resumption(report: &str, id: &str) -> String {
    let form = format!(
        "<form class=\"way-back\" method=\"post\" action=\"/resume/{}\">\
         <button>Resume this run</button></form>\n",
        address(id)
    );
    report.replacen("<body>\n", &format!("<body>\n{form}"), 1)
}

/// The progress of filling databases; the page reloads itself until they are filled, and then
/// offers to start their plan.
pub(crate) fn preparing(preparation: &FillProgress, may_change: bool) -> String {
    let plan = escape(&preparation.plan);
    let seconds = preparation.took.as_secs();
    let (title, told) = match &preparation.ended {
        None => ("Preparing", format!("{seconds} s so far. This page refreshes every 2 s.")),
        Some(Ok(())) => ("Prepared", format!("The databases are ready, after {seconds} s.")),
        Some(Err(why)) => ("Not prepared", escape(why)),
    };
    let is_ready = matches!(preparation.ended, Some(Ok(()))) && may_change;
    let start = if is_ready {
        format!(
            "<form method=\"post\" action=\"/start\">\n<input type=\"hidden\" name=\"plan\" \
             value=\"{plan}\">\n<p><button>Start the run</button></p>\n</form>\n"
        )
    } else {
        String::new()
    };
    let body = format!(
        "<main>\n<h1>{title} {plan}</h1>\n<p class=\"state\" role=\"status\">{told}</p>\n\
         {start}</main>\n"
    );
    let page = page(title, &body);
    if preparation.ended.is_some() {
        return page;
    }
    renewed(&page, 2)
}
