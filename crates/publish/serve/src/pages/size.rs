//! The form that asks for mailboxes and servers; the answer is the page of `size`.

use std::fmt::Write as _;

use report::escape;

use super::{options, page, problem};

/// A field of the form, and its key in a deployment.
struct SizingField {
    key: &'static str,
    label: &'static str,
    /// The example's value.
    example: &'static str,
}

const fn field(key: &'static str, label: &'static str, example: &'static str) -> SizingField {
    SizingField { key, label, example }
}

/// Values that differ from one deployment to the next; everything else is in `further`.
const FIELDS: [SizingField; 10] = [
    field("tier.1.mailboxes", "Mailboxes", "5000"),
    field("tier.1.messages_per_day", "Messages a day, sent and received by one", "100"),
    field("tier.1.size_limit", "Largest mailbox", "2GiB"),
    field("tier.1.growth_percent", "Growth, %", "0"),
    field("availability.servers_per_site", "Servers at each site", "4"),
    field("availability.copies", "Copies of each database, at both sites together", "3"),
    field("servers.cores", "Cores of a server", "16"),
    field("disks.database.size", "Size of a disk", "4TB"),
    field("disks.database.type", "Kind of disk", "7.2K SAS 3.5"),
    field("second_site.copies", "Of these copies at the second site", "1"),
];

/// A field with a fixed set of values.
struct SizingChoice {
    key: &'static str,
    label: &'static str,
    /// Label of the choice without a value.
    none: &'static str,
    values: &'static [&'static str],
}

/// A second site exists if it has a model.
const CHOICES: [SizingChoice; 2] = [
    SizingChoice {
        key: "second_site.model",
        label: "Second site",
        none: "none",
        values: &["active/active", "active/passive", "active/active, groups of their own"],
    },
    SizingChoice {
        key: "second_site.witness",
        label: "Witness of the two sites",
        none: "default",
        values: &["first site", "second site", "third site"],
    },
];

/// The value that selects the built-in example.
const EXAMPLE: &str = "";

/// The submitted form.
pub(crate) struct SizingForm<'a> {
    fields: &'a [(String, String)],
}

impl<'a> SizingForm<'a> {
    pub(crate) const fn new(fields: &'a [(String, String)]) -> Self {
        Self { fields }
    }

    fn value(&self, name: &str) -> &'a str {
        self.fields.iter().find(|(of, _)| of == name).map_or("", |(_, value)| value.trim())
    }

    /// Name of the initial document; `None` for the example.
    pub(crate) fn document(&self) -> Option<&'a str> {
        Some(self.value("document")).filter(|name| *name != EXAMPLE)
    }

    /// Keys with the values that were filled in.
    pub(crate) fn values(&self) -> Result<Vec<(String, String)>, String> {
        let keys = FIELDS.iter().map(|of| of.key).chain(CHOICES.iter().map(|of| of.key));
        let mut values: Vec<(String, String)> =
            keys.map(|key| (key.to_owned(), self.value(key).to_owned())).collect();
        values.retain(|(_, value)| !value.is_empty());
        for line in lines(self.value("further")) {
            let pair = line.split_once('=').filter(|(key, _)| !key.trim().is_empty());
            let (key, value) = pair.ok_or_else(|| {
                format!("`{line}` is no value; write KEY = VALUE, one a line, such as dags = 2")
            })?;
            values.push((key.trim().to_owned(), value.trim().to_owned()));
        }
        Ok(values)
    }

    /// Keys with several values each.
    pub(crate) fn scenarios(&self) -> Vec<String> {
        lines(self.value("scenarios")).map(str::to_owned).collect()
    }
}

/// Lines that are neither empty nor comments.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The form, with the reason if it was rejected.
pub(crate) fn sizing(form: &SizingForm<'_>, deployments: &[String], why: Option<&str>) -> String {
    let mut body = format!(
        "<main>\n<h1>Size a deployment</h1>\n{}\
         <p class=\"note\">From mailboxes to servers, databases and disks, with the reason for \
         every number. Empty fields keep the default. Nothing is saved.</p>\n\
         <form class=\"fields\" action=\"/sized\">\n",
        problem(why)
    );
    let _ = write!(
        body,
        "<p><label for=\"document\">Start from</label><select id=\"document\" name=\"document\">\n\
         <option value=\"{EXAMPLE}\">built-in example</option>\n{}</select></p>\n",
        options(deployments, form.value("document"))
    );
    for SizingField { key, label, example } in FIELDS {
        let value = escape(form.value(key));
        let _ = writeln!(
            body,
            "<p><label for=\"{key}\">{label}</label><input id=\"{key}\" name=\"{key}\" \
             value=\"{value}\" placeholder=\"{example}\" autocomplete=\"off\"></p>"
        );
    }
    for choice in &CHOICES {
        body.push_str(&choice_field(choice, form.value(choice.key)));
    }
    body.push_str(&text_area(
        "further",
        "More settings, one per line",
        "availability.lagged_copies = 1",
        form.value("further"),
    ));
    body.push_str(&text_area(
        "scenarios",
        "Designs to compare: keys with several values",
        "availability.servers_per_site = 4, 6, 8",
        form.value("scenarios"),
    ));
    body.push_str("<p class=\"done\"><button>Size</button></p>\n</form>\n</main>\n");
    page("Size a deployment", &body)
}

fn choice_field(choice: &SizingChoice, chosen: &str) -> String {
    let SizingChoice { key, label, none, values } = choice;
    let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
    format!(
        "<p><label for=\"{key}\">{label}</label><select id=\"{key}\" name=\"{key}\">\n\
         <option value=\"\">{none}</option>\n{}</select></p>\n",
        options(&values, chosen)
    )
}

/// A field of several lines.
pub(super) fn text_area(name: &str, label: &str, example: &str, value: &str) -> String {
    let value = escape(value);
    format!(
        "<p class=\"whole\"><label for=\"{name}\">{label}</label>\
         <textarea id=\"{name}\" name=\"{name}\" rows=\"3\" placeholder=\"{example}\" \
         spellcheck=\"false\">\n{value}</textarea></p>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::{SizingForm, sizing};

    fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_is_filled_in_becomes_values_of_keys() {
        let given = fields(&[
            ("tier.1.mailboxes", " 900 "),
            ("tier.1.size_limit", ""),
            ("further", "# none\nio.overhead_percent = 10\r\n\n"),
            ("scenarios", "availability.copies=2,3"),
        ]);
        let form = SizingForm::new(&given);
        let values = form.values().unwrap();
        let expected = [("tier.1.mailboxes", "900"), ("io.overhead_percent", "10")];
        assert_eq!(values, fields(&expected));
        assert_eq!(form.scenarios(), ["availability.copies=2,3"]);
        assert_eq!(form.document(), None);
        let wrong = fields(&[("further", "nonsense")]);
        assert!(SizingForm::new(&wrong).values().unwrap_err().contains("`nonsense`"));
    }

    #[test]
    fn a_second_site_is_filled_in_and_kept() {
        let given = fields(&[
            ("second_site.model", "active/passive"),
            ("second_site.copies", "1"),
            ("second_site.witness", ""),
        ]);
        let form = SizingForm::new(&given);
        let values = form.values().unwrap();
        let expected = [("second_site.copies", "1"), ("second_site.model", "active/passive")];
        assert_eq!(values, fields(&expected));
        let html = sizing(&form, &[], None);
        for part in [
            "<select id=\"second_site.model\"",
            "<option value=\"\">none</option>",
            "selected>active/passive</option>",
            ">third site</option>",
            "name=\"second_site.copies\" value=\"1\"",
        ] {
            assert!(html.contains(part), "{part} is not in\n{html}");
        }
    }

    #[test]
    fn the_form_keeps_what_was_filled_in_and_runs_none_of_it() {
        let given = fields(&[("tier.1.mailboxes", "\"><script>"), ("further", "</textarea>")]);
        let html = sizing(&SizingForm::new(&given), &["a.toml".to_owned()], Some("<b>"));
        assert!(!html.contains("<script>") && !html.contains("<b>"));
        assert_eq!(html.matches("</textarea>").count(), 2);
        assert!(html.contains("&quot;&gt;&lt;script&gt;") && html.contains(">a.toml</option>"));
    }
}
