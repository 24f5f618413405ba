//! The form that edits the labels of a run. A script puts it below the run's row; without scripts
//! it is a separate page.

use report::escape;

use super::stopped::NO_TOKEN;
use super::{address, page};
use crate::summary::RunLine;

/// The form for the run `id`, which the list shows as `line`.
pub(crate) fn labels(id: &str, line: &RunLine, may_change: bool) -> String {
    let shown = if line.name.is_empty() { id } else { &line.name };
    let form = if may_change { form(id, line) } else { NO_TOKEN.to_owned() };
    let body = format!("<main>\n<h1>{}</h1>\n{form}</main>\n", escape(shown));
    page(&format!("Labels of {shown}"), &body)
}

fn form(id: &str, line: &RunLine) -> String {
    format!(
        "<form class=\"labels\" method=\"post\" action=\"/labels/{}\">\n\
         <div class=\"fields\">\n\
         <p><label for=\"label-name\">Name</label><input id=\"label-name\" name=\"name\" \
         value=\"{}\"></p>\n\
         <p><label for=\"label-tags\">Tags, with commas between</label>\
         <input id=\"label-tags\" name=\"tags\" value=\"{}\"></p>\n\
         <p><label for=\"label-description\">Description</label>\
         <input id=\"label-description\" name=\"description\" value=\"{}\"></p>\n</div>\n\
         <p><button>Save</button> <a href=\"/\">Leave it</a></p>\n\
         <p class=\"note\">Lists and comparisons show this; the record and its report keep the \
         plan's.</p>\n</form>\n",
        address(id),
        escape(&line.name),
        escape(&line.tags.join(", ")),
        escape(&line.description),
    )
}
