//! The demand of a mailbox and its reserve, and what a customer's paper leaves out.

use record::TestType;

use super::{SAID, made, page, whole};
use crate::figures::Demand;

const PLAN: &str = "[databases]\nfolders = [\"/a\"]\nsize = \"10GiB\"\n\
                    [mailboxes]\ncount = 400\niops_each = 0.067\nsize = \"1GiB\"\n\
                    headroom = 22\n";

#[test]
fn the_reserve_is_in_the_number_that_says_so_and_in_the_mailboxes_served() {
    let mut runs = whole();
    for run in &mut runs {
        run.record.start.settings.iops_per_mailbox = Some(0.5);
        run.record.start.settings.mailboxes = Some(400);
        run.record.start.settings.target_iops = Some(240.0);
    }
    let reserved = page(&runs, SAID);
    assert_eq!(reserved.matches("0.6: 0.5 and a reserve of 20 %").count(), 2, "{reserved}");
    let served = " and 0.6 IOPS for each mailbox, with a reserve of 20 %, the requests of about";
    assert!(reserved.contains(served));
    assert_eq!(reserved.matches(" 0.5 IOPS").count(), 1, "{reserved}");
    assert!(reserved.contains("Without the reserve, at 0.5 IOPS"));
    assert!(reserved.contains("400 active mailboxes ask for 200 without reserve (240 with it)"));
    for run in &mut runs {
        run.record.start.settings.target_iops = Some(200.0);
    }
    assert!(page(&runs, SAID).contains("0.5, without a reserve"));
    for run in &mut runs {
        run.record.start.settings.iops_per_mailbox = Some(0.402);
        run.record.start.settings.target_iops = Some(161.0);
    }
    let rounded = page(&runs, SAID);
    assert!(rounded.contains("0.402, without a reserve"), "160.8, rounded up: {rounded}");
    assert!(rounded.contains("ask for 161.<"), "{rounded}");
    for run in &mut runs {
        run.record.start.plan_text = PLAN.to_owned();
        run.record.start.settings.iops_per_mailbox = Some(0.067);
        run.record.start.settings.target_iops = Some(33.0);
    }
    let planned = page(&runs, SAID);
    assert!(planned.contains("and a reserve of 22 %"), "32.7, rounded up: {planned}");
    for run in &mut runs {
        run.record.start.settings.iops_per_mailbox = None;
    }
    assert!(page(&runs, SAID).contains("0.12, a reserve of 20 % included"), "the vendor's number");
}

#[test]
fn the_demand_of_a_mailbox_contains_the_reserve_once() {
    let (iops_each, reserve_percent) = (Some(0.5), Some(20.0));
    let demand = Demand { iops_each, reserve_percent, ..Demand::default() };
    assert!(demand.iops_with_reserve().is_some_and(|iops| (iops - 0.6).abs() < 1e-12));
    let vendors = Demand { iops_each, ..Demand::default() };
    assert_eq!(vendors.iops_with_reserve(), Some(0.5));
}

/// The tested number is of the records; the vendor states that of the whole solution.
#[test]
fn simulated_mailboxes_are_those_of_the_tested_servers() {
    let mut runs = whole();
    for run in &mut runs {
        run.record.start.settings.mailboxes = Some(400);
    }
    let said = SAID.replace("mailboxes = 1000\n[conf", "mailboxes = 50000\n[conf");
    let page = page(&runs, &said);
    assert!(page.contains("<th scope=\"row\">Mailboxes simulated</th><td>400</td>"), "{page}");
    assert!(page.contains("<th scope=\"row\">Mailboxes of the solution</th><td>50,000</td>"));
}

/// Next steps are for testers, not for the customer.
#[test]
fn an_appendix_has_the_limits_of_a_result_and_no_next_steps() {
    let paper = page(&[made("load", TestType::Performance)], SAID);
    assert!(paper.contains("Limits of This Result") && paper.contains("Not tested"));
    assert!(!paper.contains("Next"), "{paper}");
}
