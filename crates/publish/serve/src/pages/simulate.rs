//! The form that simulates hypothetical arrays, and the page of simulations in progress; their
//! answer is the ranking of `simulate --what-if`.

use std::fmt::Write as _;

use report::escape;

use super::size::{lines, text_area};
use super::stopped::NO_TOKEN;
use super::{address, options, page, problem, renewed};

/// Selectable virtual times: enough for a verdict, but none so long that it takes an hour.
const DURATIONS: [&str; 5] = ["30s", "1m", "2m", "5m", "10m"];

/// The default choice.
const USUAL: &str = "2m";

/// Maximum number of changes in one table; the program bounds their combinations.
const MOST_CHANGES: usize = 8;

/// The submitted form.
pub(crate) struct SimulationForm<'a> {
    fields: &'a [(String, String)],
}

impl<'a> SimulationForm<'a> {
    pub(crate) const fn new(fields: &'a [(String, String)]) -> Self {
        Self { fields }
    }

    fn value(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value.trim())
    }

    /// The name of the plan.
    pub(crate) fn plan(&self) -> &'a str {
        self.value("plan")
    }

    /// The name of the array.
    pub(crate) fn array(&self) -> &'a str {
        self.value("array")
    }

    /// Virtual time, one of those to choose from.
    pub(crate) fn duration(&self) -> &'static str {
        let given = self.value("duration");
        DURATIONS.into_iter().find(|of| *of == given).unwrap_or(USUAL)
    }

    /// Keys of the array with several values each.
    pub(crate) fn changes(&self) -> Result<Vec<String>, String> {
        let changes: Vec<String> = lines(self.value("changes")).map(str::to_owned).collect();
        if changes.len() > MOST_CHANGES {
            return Err(format!("at most {MOST_CHANGES} keys are changed at a time"));
        }
        Ok(changes)
    }
}

const HEADING: &str = "<main>\n<h1>Simulate arrays</h1>\n";

const PURPOSE: &str = "<p class=\"note\">Predicts a plan's result on simulated arrays. A \
    simulation measures no storage: it shows which of several designs is worth buying a sample \
    of.</p>\n";

/// Shown instead of the form, which would be rejected.
pub(crate) fn simulation_without_token() -> String {
    page("Simulate arrays", &format!("{HEADING}{PURPOSE}{NO_TOKEN}</main>\n"))
}

/// The form, with the reason if nothing was started.
pub(crate) fn simulation(
    form: &SimulationForm<'_>,
    plans: &[String],
    (own, supplied): (&[String], &[String]),
    why: Option<&str>,
) -> String {
    let mut body = format!("{HEADING}{}{PURPOSE}", problem(why));
    if plans.is_empty() {
        body.push_str(
            "<p>There is no plan in this folder. Write one there: <code>plimsoll plan</code> \
             prints an example.</p>\n</main>\n",
        );
        return page("Simulate arrays", &body);
    }
    let durations = DURATIONS.map(str::to_owned);
    let _ = write!(
        body,
        "<form class=\"fields\" method=\"post\" action=\"/simulate\">\n\
         {}{}{}{}\
         <p class=\"done\"><button>Simulate</button></p>\n</form>\n</main>\n",
        choice("plan", "Plan", &options(plans, form.plan())),
        choice("array", "Array", &[own, supplied].map(|all| options(all, form.array())).concat(),),
        choice("duration", "Virtual time", &options(&durations, form.duration())),
        text_area(
            "changes",
            "What to try: keys of the array with several values, one a line; none: as it is",
            "raid.level = 5, 10",
            form.value("changes"),
        ),
    );
    page("Simulate arrays", &body)
}

/// A list to choose from.
fn choice(name: &str, label: &str, options: &str) -> String {
    format!(
        "<p><label for=\"{name}\">{label}</label><select id=\"{name}\" name=\"{name}\">\n\
         {options}</select></p>\n"
    )
}

/// The page of simulations in progress, which reloads itself.
pub(crate) fn simulating(id: &str, done: usize, total: usize) -> String {
    let (shown, place) = (escape(id), address(id));
    let body = format!(
        "<main>\n<h1>Simulating</h1>\n<p class=\"note\">{shown}</p>\n\
         <p class=\"state\" role=\"status\"><b>{done} of {total} done</b></p>\n\
         <p class=\"note\">Refreshes every 2 s; the ranking appears when all are finished.</p>\n\
         <form method=\"post\" action=\"/stop/{place}\">\
         <button class=\"stop\">Stop</button></form>\n\
         </main>\n"
    );
    renewed(&page("Simulating", &body), 2)
}

#[cfg(test)]
mod tests {
    use super::{SimulationForm, simulating};

    #[test]
    fn only_times_of_the_list_are_simulated() {
        for (given, simulated) in [("5m", "5m"), ("9999h", "2m"), ("", "2m"), ("--help", "2m")] {
            let fields = [("duration".to_owned(), given.to_owned())];
            assert_eq!(SimulationForm::new(&fields).duration(), simulated);
        }
        let many = [("changes".to_owned(), "a=1\n".repeat(9))];
        assert!(SimulationForm::new(&many).changes().is_err());
    }

    #[test]
    fn the_page_under_way_comes_back_by_itself() {
        let page = simulating("a<b", 1, 2);
        assert!(page.contains("/renew.js") && page.contains("a&lt;b"));
        assert!(page.contains("action=\"/stop/a%3Cb\""));
    }
}
