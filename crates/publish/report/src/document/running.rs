//! The title that every printed page repeats, so that a page by itself says what it is about.

/// The style that prints `title` at the top of every page.
pub fn running_title(title: &str) -> String {
    let title = quoted(title);
    format!("@page {{ @top-left {{ content: {title}; font: 8pt sans-serif; color: #4c5459; }} }}\n")
}

/// A text as a CSS string, without characters that could end it or the style.
fn quoted(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|symbol| if symbol.is_control() || "\"\\<>".contains(symbol) { ' ' } else { symbol })
        .collect();
    format!("\"{plain}\"")
}

#[cfg(test)]
mod tests {
    use super::quoted;
    use crate::tests::simulated;

    #[test]
    fn a_title_ends_no_style() {
        assert_eq!(quoted("a\"</style>\\b"), "\"a  /style  b\"");
    }

    /// A page of a printed report may lie on a desk without the first one.
    #[test]
    fn every_printed_page_names_the_run_and_its_assumption() {
        let mut run = simulated();
        run.start.name = "acme on EX01".to_owned();
        run.start.description = "for Acme. ASSUMPTION: figures of Exchange 2016".to_owned();
        let page = crate::html(&run, &verdict::judge(&run));
        let title = page.split("@top-left { content: \"").nth(1).expect("a running title");
        let title = title.split('"').next().expect("its end");
        assert!(title.starts_with("acme on EX01, simulated on "), "{title}");
        assert!(title.ends_with("for Acme. ASSUMPTION: figures of Exchange 2016"), "{title}");
    }
}
