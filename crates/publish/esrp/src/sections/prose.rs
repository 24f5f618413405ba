//! The prose chapters: the vendor's text, framed by the statements that the paper must make about
//! itself.

use report::format;

use super::{chapter, facts, listed, said};
use crate::figures::Demand;
use crate::paper::{Chapter, Content, Cover, Wanted, Words};
use crate::roles::Server;
use crate::vendor::{Vendor, count, paragraphs, points, text};

pub(super) fn cover(servers: &[Server<'_>], vendor: &Vendor) -> Cover {
    let of = &vendor.cover;
    let program = match of.program_version.trim() {
        "" => "No programme of reviewed solutions; the sections follow its papers",
        program => program,
    };
    Cover {
        vendor: text(&of.vendor, "the vendor", "cover.vendor"),
        title: text(&of.solution, "the solution", "cover.solution"),
        lines: vec![
            ("Customer", text(&of.customer, "the customer", "cover.customer")),
            ("Author", text(&of.author, "the author", "cover.author")),
            ("Published", text(&of.date, "the date of the paper", "cover.date")),
            ("Exchange version", exchange(vendor)),
            ("Tested with", Words::said(instruments(servers))),
            ("Programme", Words::said(program)),
            ("Tested", Words::said(dates(servers))),
            ("Part number", text(&of.part_number, "a part number", "cover.part_number")),
        ],
        legal: paragraphs(&of.legal, "the legal notice", "cover.legal"),
    }
}

fn exchange(vendor: &Vendor) -> Words {
    text(&vendor.cover.exchange_version, "the version of Exchange", "cover.exchange_version")
}

/// Every instrument that measured one of the runs.
pub(super) fn instruments(servers: &[Server<'_>]) -> String {
    let runs = servers.iter().flat_map(Server::tests).map(|(_, run)| &run.record);
    let names = runs.map(|run| match run.imported() {
        Some(imported) => imported.instrument.as_str(),
        None => run.start.build.as_str(),
    });
    listed(names).unwrap_or_else(|| "an instrument that no record names".to_owned())
}

/// The days of the first and the last run.
fn dates(servers: &[Server<'_>]) -> String {
    let mut days: Vec<String> = servers
        .iter()
        .flat_map(Server::tests)
        .map(|(_, run)| &run.record)
        .filter_map(report::started_iso)
        .filter_map(|time| Some(time.split_once('T')?.0.to_owned()))
        .collect();
    days.sort_unstable();
    match (days.first(), days.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(only), _) => only.clone(),
        _ => "on a day that no record names".to_owned(),
    }
}

pub(super) fn overview(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    let of = &vendor.cover;
    let (solution, publisher) = (
        text(&of.solution, "the solution", "cover.solution").text(),
        text(&of.vendor, "the vendor", "cover.vendor").text(),
    );
    let first = format!(
        "This paper describes {solution} of {publisher} as storage of {}, and what it did in tests \
         with {}. It has the sections and tables of the papers of Microsoft's Exchange Solution \
         Reviewed Program - Storage.",
        exchange(vendor).text(),
        instruments(servers)
    );
    let second = "Every figure of the chapter of results, of its tables and of the appendices \
                  comes from the records of the runs, which are tamper-evident. \
                  Description, hardware and recommendations are the vendor's own words.";
    chapter("overview", "Overview", vec![said(first), said(second)])
}

pub(super) fn disclaimer(servers: &[Server<'_>]) -> Chapter {
    let is_imported =
        |server: &Server<'_>| server.tests().iter().any(|(_, run)| run.record.imported().is_some());
    let mut content = vec![
        said(
            "Microsoft has neither tested nor reviewed this solution unless the cover names the \
             version of its programme, and warrants nothing that is said here.",
        ),
        said(
            "The tests show what this configuration did on the days of the tests. They are no \
             benchmark: configurations of different purpose cannot be ranked by them, and no other \
             configuration of the same products is known to do the same.",
        ),
    ];
    if servers.iter().any(is_imported) {
        content.push(said(
            "Some runs were measured by another instrument and imported from its results. They \
             have averages alone, and are named wherever they stand.",
        ));
    }
    chapter("disclaimer", "Disclaimer", content)
}

pub(super) fn features(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    let mut content: Vec<Content> =
        paragraphs(&vendor.text.features, "the features of the product", "text.features")
            .into_iter()
            .map(Content::Paragraph)
            .collect();
    let demand = servers.first().map(|server| Demand::of(server, vendor)).unwrap_or_default();
    let disks = count(vendor.disks_tested(), "the disks", "hardware.disks_tested");
    let users = count(vendor.customer.mailboxes, "the mailboxes", "customer.mailboxes");
    content.push(said(format!(
        "The tested solution has {} disks for {} mailboxes of {} and {} IOPS each{}.",
        disks.text(),
        users.text(),
        mailbox_size(servers, vendor).text(),
        iops_each(demand).text(),
        demand.reserve_remark()
    )));
    chapter("features", "Features", content)
}

pub(super) fn description(
    vendor: &Vendor,
    architecture: Vec<Content>,
    layout: Vec<Content>,
) -> Chapter {
    let of = &vendor.text;
    let mut content: Vec<Content> =
        paragraphs(&of.description, "the design of the solution", "text.description")
            .into_iter()
            .map(Content::Paragraph)
            .collect();
    content.extend(architecture);
    content.push(Content::Heading("Provisioning".to_owned()));
    content.push(Content::List(points(
        &of.provisioning,
        "the steps of provisioning",
        "text.provisioning",
    )));
    content.extend(layout);
    content.push(Content::Heading("What the tests do not cover".to_owned()));
    content.push(said(
        "The tests load the storage as mailbox databases do. Processors and memory of mail servers \
         in service, the network of clients, archives, migrations, search and all other services \
         of a site have to be planned beside it.",
    ));
    chapter("description", "Solution Description", content)
}

/// The size of one mailbox: from the plan, else from the vendor.
pub(super) fn mailbox_size(servers: &[Server<'_>], vendor: &Vendor) -> Words {
    let planned = servers.iter().filter_map(Server::facts);
    let mut sizes = planned.filter_map(|run| run.record.start.settings.mailbox_bytes);
    let key = "configuration.mailbox_size";
    let stated = text(&vendor.configuration.mailbox_size, "the size of a mailbox", key);
    sizes.next().map_or(stated, |bytes| Words::said(format::size(bytes)))
}

/// IOPS of a mailbox with its reserve, as a number for sentences.
pub(super) fn iops_each(demand: Demand) -> Words {
    worded(demand.iops_with_reserve().map(shortest))
}

/// IOPS of a mailbox for tables, with the reserve that they include.
pub(super) fn iops_and_reserve(demand: Demand) -> Words {
    worded(demand.iops_with_reserve().map(|iops| match demand.reserve_percent {
        None => format!("{}, a reserve of 20 % included", shortest(iops)),
        Some(percent) if percent > 0.0 => format!(
            "{}: {} and a reserve of {} %",
            shortest(iops),
            shortest(demand.iops_each.unwrap_or_default()),
            shortest(percent)
        ),
        Some(_) => format!("{}, without a reserve", shortest(iops)),
    }))
}

/// A number without zeros at its end.
pub(super) fn shortest(number: f64) -> String {
    format::number(number, 3).trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn worded(iops: Option<String>) -> Words {
    Words::or_missing(iops, "the IOPS of a mailbox", Wanted::Key("configuration.iops_per_mailbox"))
}

pub(super) fn customer(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    let (of, demand) = (
        &vendor.customer,
        servers.first().map(|server| Demand::of(server, vendor)).unwrap_or_default(),
    );
    let copies = servers.iter().filter_map(Server::facts).find_map(copies);
    let rows = vec![
        ("Mailboxes", count(of.mailboxes, "the mailboxes", "customer.mailboxes")),
        ("Mailbox servers", count(of.servers, "the servers", "customer.servers")),
        ("IOPS of a mailbox", iops_and_reserve(demand)),
        (
            "Messages sent and received by a mailbox in a day",
            count(of.messages_per_day, "the messages", "customer.messages_per_day"),
        ),
        ("Size of a mailbox", mailbox_size(servers, vendor)),
        (
            "Database maintenance in the background",
            text(&of.maintenance, "the maintenance", "customer.maintenance"),
        ),
        ("Copies of each database, the active one included", Words::of_run(copies, "the copies")),
        ("Storage systems", count(of.arrays, "the storage systems", "customer.arrays")),
    ];
    let table = facts("Whom the solution is meant for", rows);
    chapter("customer", "Targeted Customer Profile", vec![table])
}

/// Number of copies of each database, if the record states it.
pub(super) fn copies(run: &crate::TestedRun) -> Option<String> {
    let copies = match run.record.imported() {
        Some(imported) => imported.load.copies_per_database?,
        None => run.record.start.settings.copies_per_database,
    };
    (copies > 0).then(|| copies.to_string())
}

pub(super) fn practices(vendor: &Vendor) -> Chapter {
    let of = &vendor.text;
    let mut content = vec![
        Content::Heading("Core storage".to_owned()),
        Content::List(points(&of.best_practices, "the best practices", "text.best_practices")),
        Content::Heading("Backup strategy".to_owned()),
    ];
    let backup = paragraphs(&of.backup_strategy, "the strategy of backups", "text.backup_strategy");
    content.extend(backup.into_iter().map(Content::Paragraph));
    chapter("practices", "Best Practices", content)
}

pub(super) fn contact(vendor: &Vendor) -> Chapter {
    let whom = text(&vendor.cover.contact, "whom to ask", "cover.contact");
    chapter("contact", "Contact for Additional Information", vec![Content::Paragraph(whom)])
}
