//! Servers and groups: how many there are, and how many mailboxes each group serves (facts 5.2
//! and 5.7, the counts they start from).

use plan::deployment::SiteModel;

use crate::key::Key;
use crate::work::Work;

/// Counts of groups and of servers in the first site.
pub(crate) fn servers(work: &mut Work<'_>) {
    let deployment = work.deployment;
    let availability = &deployment.availability;
    let given = f64::from(availability.dags);
    let given = work.sheet.input(Key::AvailabilityDags, given);
    let dags = match deployment.site_model() {
        Some(SiteModel::ActiveActiveGroups) => given * 2.0,
        _ => given,
    };
    let dags = work.put(Key::ServerDags, dags);
    let per_site = f64::from(availability.servers_per_site);
    let per_site = work.sheet.input(Key::AvailabilityServersPerSite, per_site);
    let active = work.put(Key::ServerActiveDc1, per_site);
    let parts = if deployment.has_copies() { dags } else { active };
    let parts = work.put(Key::ServerParts, parts);
    let per_part = work.get(Key::MailboxesTotal) / parts;
    work.put(Key::ServerMailboxesPerDag, per_part);
    let (first, first_lagged) = deployment.copies_in_first_site();
    let (second, second_lagged) = deployment.copies_in_second_site();
    for (key, count) in [
        (Key::CopiesTotal, deployment.total_copies()),
        (Key::CopiesFirstSite, first),
        (Key::CopiesFirstSiteLagged, first_lagged),
        (Key::CopiesSecondSite, second),
        (Key::CopiesSecondSiteLagged, second_lagged),
    ] {
        work.sheet.input(key, f64::from(count));
    }
}
