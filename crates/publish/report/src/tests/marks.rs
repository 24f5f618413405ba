//! Backticks in names that users gave: they are characters, and mark no command.

use verdict::{NamedRun, compare};

use super::passing;
use crate::{ReportForm, render_comparison};

const NAME: &str = "a `b` c";

#[test]
fn a_backtick_in_a_name_is_a_character_of_every_page() {
    let mut run = passing();
    run.start.name = NAME.to_owned();
    run.start.description = "rack `7`".to_owned();
    run.start.tags = vec!["`t".to_owned()];
    let page = crate::html(&run, &verdict::judge(&run));
    for text in ["a &#96;b&#96; c", "rack &#96;7&#96;", "&#96;t"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("<code>b</code>") && !page.contains("<code>7</code>"));
    assert!(crate::text(&run, &verdict::judge(&run)).contains(NAME));
    let runs = [NAME, "other"].map(|name| NamedRun {
        name: name.to_owned(),
        verdict: verdict::judge(&run),
        record: run.clone(),
    });
    let comparison = compare(&runs).expect("runs of one kind");
    let page = render_comparison(ReportForm::Page, &runs, &comparison);
    assert!(page.contains("A (a &#96;b&#96; c)") && !page.contains("<code>b</code>"));
}
