//! Appendix A: how many mailboxes of each size the storage supports, by I/O and by space.

use record::ServerLoad;
use report::format;
use verdict::Ruling;

use super::said;
use crate::TestedRun;
use crate::figures::{Demand, room_bytes, room_in_gib};
use crate::paper::{Chapter, Content, PaperTable, Wanted, Words};
use crate::roles::Server;
use crate::vendor::Vendor;

/// Sizes of mailboxes that customers ask for, in GiB.
const SIZES_GIB: [f64; 9] = [0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 25.0, 50.0];
const GIB: f64 = 1_073_741_824.0;
/// Numbers of mailboxes are rounded down: to hundreds from 1,000 on, to tens from 100 on.
const STEPS: [f64; 2] = [100.0, 10.0];

/// Capacity of the storage of all tested servers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bounds {
    by_requests: f64,
    room_bytes: f64,
}

impl Bounds {
    /// Mailboxes of a size: the smaller bound.
    fn at(self, size_gib: f64) -> f64 {
        rounded_down(self.by_requests.min(self.by_room(size_gib)))
    }

    /// The row of the table for a size.
    fn row(self, size_gib: f64) -> Vec<Words> {
        let by_room = rounded_down(self.by_room(size_gib));
        let limit = if by_room < self.by_requests { "room" } else { "requests" };
        [
            format!("{} GiB", format::number(size_gib, 1).trim_end_matches(".0")),
            format::number(self.at(size_gib), 0),
            limit.to_owned(),
        ]
        .map(Words::Said)
        .to_vec()
    }

    fn by_room(self, size_gib: f64) -> f64 {
        self.room_bytes / (size_gib * GIB)
    }
}

fn rounded_down(mailboxes: f64) -> f64 {
    let step = STEPS.into_iter().find(|step| mailboxes >= step * 10.0).unwrap_or(1.0);
    // A quotient such as 240 / 0.6 must not lose a step to its last binary digit.
    (mailboxes / step * (1.0 + 1e-12)).floor() * step
}

pub(super) fn appendix(servers: &[Server<'_>], vendor: &Vendor) -> Chapter {
    Chapter {
        id: "mailboxes".to_owned(),
        title: "Appendix A: User Mailbox Sizing".to_owned(),
        opens_page: true,
        content: content(servers, vendor),
    }
}

/// Loads behind the number of mailboxes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TestedLoads {
    /// The sum over servers of the highest load of each.
    iops: f64,
    /// Whether each of these loads passed its test.
    has_passed: bool,
    /// Whether a server was tested with more than one load.
    has_several: bool,
}

impl TestedLoads {
    /// The highest passed loads of all servers if each has one, otherwise the highest tested ones.
    /// `None` if a server has no load.
    fn of(servers: &[Server<'_>]) -> Option<Self> {
        let passed: Option<f64> = servers.iter().map(|server| highest(server, has_passed)).sum();
        let tested: Option<f64> = servers.iter().map(|server| highest(server, |_| true)).sum();
        let has_several = servers.iter().any(|server| loads(server).count() > 1);
        let iops = passed.or(tested).filter(|_| !servers.is_empty())?;
        Some(Self { iops, has_passed: passed.is_some(), has_several })
    }

    /// A sentence with the number of mailboxes that claims no more than the tests show.
    fn sentence(self, asked: StatedDemand<'_>, mailboxes: &str) -> String {
        let StatedDemand { each, reserve } = asked;
        let iops = format::number(self.iops, 2);
        let which = match (self.has_several, self.has_passed) {
            (false, _) => "the load that was tested",
            (true, true) => "the highest load that passed its test",
            (true, false) => "the highest load that was tested",
        };
        let said = if self.has_passed {
            format!("the requests of about {mailboxes} mailboxes are served")
        } else {
            format!("about {mailboxes} mailboxes would make these requests")
        };
        format!(
            "At {iops} IOPS in all, {which}, and {each} IOPS for each mailbox{reserve}, {said}."
        )
    }
}

/// The demand of a mailbox, worded for a sentence.
#[derive(Clone, Copy)]
struct StatedDemand<'a> {
    each: &'a str,
    /// The reserve included in it, as a remark.
    reserve: &'a str,
}

/// The number of mailboxes that the reports of the runs give, which count no reserve; `None` if the
/// plan has none.
fn without_reserve(iops: f64, demand: Demand) -> Option<String> {
    let each = demand.iops_each.filter(|&each| each > 0.0)?;
    demand.reserve_percent.filter(|&percent| percent > 0.0)?;
    Some(format!(
        "Without the reserve, at {} IOPS for each mailbox, they would be about {} mailboxes, as \
         the reports of the tests count them.",
        super::prose::shortest(each),
        format::number(rounded_down(iops / each), 0)
    ))
}

fn loads<'a>(server: &Server<'a>) -> impl Iterator<Item = &'a TestedRun> {
    [server.performance, server.maximum].into_iter().flatten()
}

fn highest(server: &Server<'_>, counts: fn(&TestedRun) -> bool) -> Option<f64> {
    let loads = loads(server).filter(|run| counts(run));
    loads.filter_map(|run| ServerLoad::of(&run.record).transfers_per_second).reduce(f64::max)
}

const fn has_passed(run: &TestedRun) -> bool {
    matches!(run.verdict.outcome, Ruling::Pass | Ruling::Warn)
}

fn content(servers: &[Server<'_>], vendor: &Vendor) -> Vec<Content> {
    let first = servers.first().map(|server| Demand::of(server, vendor)).unwrap_or_default();
    let room: u64 = servers.iter().map(room_bytes).sum();
    let Some(loads) = TestedLoads::of(servers) else {
        return missing("the load of each server", Wanted::Test("performance test, 2 hours"));
    };
    let Some(each) = first.iops_with_reserve().filter(|&each| each > 0.0) else {
        return missing("the IOPS of a mailbox", Wanted::Key("configuration.iops_per_mailbox"));
    };
    let mailboxes = rounded_down(loads.iops / each);
    let each_text = super::prose::iops_each(first).text();
    let asked = StatedDemand { each: &each_text, reserve: &first.reserve_remark() };
    let mut content = vec![said(loads.sentence(asked, &format::number(mailboxes, 0)))];
    content.extend(without_reserve(loads.iops, first).map(said));
    if !loads.has_passed {
        content.push(said(
            "Not every one of these loads passed its test, so no claim follows from the numbers.",
        ));
    }
    if room == 0 {
        content.push(said(
            "The record does not tell the sizes of the volumes, so that the room for mailboxes is \
             unknown.",
        ));
        return content;
    }
    let bounds = Bounds { by_requests: mailboxes, room_bytes: room as f64 };
    content.push(said(format!(
        "The volumes of the databases have room for {}. Nothing is kept back for growth, content \
         indexes or deleted items, which a plan has to add.",
        room_in_gib(room)
    )));
    content.push(table(bounds));
    content
}

fn missing(what: &'static str, wanted: Wanted) -> Vec<Content> {
    vec![Content::Paragraph(Words::Missing { what, wanted })]
}

fn table(bounds: Bounds) -> Content {
    Content::Table(PaperTable {
        caption: "Mailboxes by their size".to_owned(),
        head: vec!["Size of a mailbox", "Mailboxes", "Bounded by"],
        rows: SIZES_GIB.into_iter().map(|size_gib| bounds.row(size_gib)).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Demand, GIB, StatedDemand, TestedLoads, rounded_down, without_reserve};

    #[test]
    fn mailboxes_are_counted_without_the_reserve_too() {
        let demand =
            |reserve_percent| Demand { iops_each: Some(0.1), reserve_percent, ..Demand::default() };
        let said = without_reserve(59.4, demand(Some(20.0))).expect("a reserve");
        let count = "at 0.1 IOPS for each mailbox, they would be about 590 mailboxes";
        assert!(said.contains(count), "{said}");
        assert_eq!(without_reserve(59.4, demand(Some(0.0))), None);
        assert_eq!(without_reserve(59.4, demand(None)), None, "the vendor's includes one");
    }

    /// "Highest" implies a comparison, and "served" is a claim.
    #[test]
    fn a_sentence_compares_only_loads_that_exist_and_claims_only_what_passed() {
        let said = |has_several, has_passed| {
            let loads = TestedLoads { iops: 240.0, has_passed, has_several };
            let reserve = ", with a reserve of 20 %";
            loads.sentence(StatedDemand { each: "0.12", reserve }, "2,000")
        };
        let one = "At 240.00 IOPS in all, the load that was tested, and 0.12 IOPS for each \
                   mailbox, with a reserve of 20 %";
        assert_eq!(
            said(false, true),
            format!("{one}, the requests of about 2,000 mailboxes are served.")
        );
        assert_eq!(
            said(false, false),
            format!("{one}, about 2,000 mailboxes would make these requests.")
        );
        assert!(said(true, true).contains("the highest load that passed its test"));
        assert!(said(true, false).contains("the highest load that was tested"));
        assert!(!said(true, false).contains("served"));
    }

    #[test]
    fn the_smaller_bound_counts() {
        // A published result equates 462.483 IOPS at 0.24 each with 1,900 mailboxes.
        assert!((rounded_down(462.483 / 0.24) - 1_900.0).abs() < 1e-9);
        let bounds = Bounds { by_requests: 1_900.0, room_bytes: 2_250.0 * GIB };
        let near = |one: f64, two: f64| assert!((one - two).abs() < 1e-9, "{one} is not {two}");
        near(bounds.at(1.0), 1_900.0);
        near(bounds.at(1.5), 1_500.0);
        near(bounds.at(10.0), 220.0);
        near(bounds.at(50.0), 45.0);
        near(rounded_down(7.9), 7.0);
        near(rounded_down(240.0 / (0.5 * 1.2)), 400.0);
    }
}
