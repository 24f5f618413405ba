//! The XML of a result: names and values as elements, counters by object and instance. A name may
//! be an attribute or an element.

use roxmltree::{Document, Node};

use super::ResultError;
use super::outline::{Outline, OutlineSection, collapsed, normal};

/// The sections of a result, under the headings that the HTML page uses.
pub(super) fn outline(text: &str) -> Result<Outline, ResultError> {
    let document = Document::parse(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ResultError::NotXml(error.to_string()))?;
    Ok(Outline { sections: elements(document.root_element()).map(section).collect() })
}

fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children().filter(Node::is_element)
}

fn named<'a, 'input>(
    node: Node<'a, 'input>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'input>> {
    elements(node).filter(move |of| of.has_tag_name(name))
}

fn section(node: Node<'_, '_>) -> OutlineSection {
    let element = node.tag_name().name();
    let mut section = OutlineSection { title: title(element), ..OutlineSection::default() };
    for pair in named(node, "element") {
        match (part(pair, "name"), part(pair, "value")) {
            (name, Some(value)) if element == "test-log" => {
                section.lines.push(format!("{} {value}", name.unwrap_or_default()).trim().into());
            }
            (Some(name), value) => section.rows.push(vec![name, value.unwrap_or_default()]),
            (None, value) => section.lines.extend(value),
        }
    }
    for object in named(node, "object") {
        let name = part(object, "name").unwrap_or_default();
        for instance in named(object, "instance") {
            add_instance(&mut section, &name, instance);
        }
    }
    section
}

/// Adds a headed row of an I/O table, or one row per counter of the machine.
fn add_instance(section: &mut OutlineSection, object: &str, instance: Node<'_, '_>) {
    let (mut names, mut values) = (vec![object.to_owned()], Vec::new());
    values.push(part(instance, "name").unwrap_or_default());
    let mut host = vec![["Counter", "Average", "Minimum", "Maximum"].map(str::to_owned).to_vec()];
    for counter in named(instance, "counter") {
        let name = part(counter, "name").unwrap_or_default();
        let [average, minimum, maximum] = ["average", "minimum", "maximum"]
            .map(|statistic| part(counter, statistic).unwrap_or_default());
        host.push(vec![name.clone(), average.clone(), minimum, maximum]);
        names.push(name);
        values.push(average);
    }
    if names[1..].iter().any(|name| is_io(name)) {
        section.rows.extend([names, values]);
    } else {
        section.rows.extend(host);
    }
}

fn is_io(name: &str) -> bool {
    let name = normal(name);
    name.starts_with("i/o ") || name.starts_with("database maintenance io")
}

/// A part of an element: its attribute, or the text of its child.
fn part(node: Node<'_, '_>, name: &str) -> Option<String> {
    node.attribute(name)
        .or_else(|| elements(node).find(|of| of.has_tag_name(name))?.text())
        .map(collapsed)
}

/// The heading that the HTML page uses for a section.
fn title(element: &str) -> String {
    let title = match element {
        "test-summary" => "Test Summary",
        "test-issues" => "Test Issues",
        "database-sizing" => "Database Sizing and Throughput",
        "jetstress-system" => "Jetstress System Parameters",
        "disk-subsystem-of-dbmaintenance" => "Background Database Maintenance I/O Performance",
        "disk-subsystem-of-logreplication" => "Log Replication I/O Performance",
        "disk-subsystem-total" => "Total I/O Performance",
        "disk-subsystem" | "disk-subsystem-transactional" => "Transactional I/O Performance",
        "host-system" => "Host System Performance",
        "test-log" => "Test Log",
        other => return other.replace('-', " "),
    };
    title.to_owned()
}
