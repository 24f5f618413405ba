//! Servers and groups: how many there are, and how many mailboxes each group serves (facts 5.2
//! and 5.7, the counts they start from).

use plan::deployment::SiteModel;

use crate::work::Work;

/// Counts of groups and of servers in the first site.
pub(crate) fn servers(work: &mut Work<'_>) {
    let deployment = work.deployment;
    let availability = &deployment.availability;
    let given = f64::from(availability.dags);
    let given = work.sheet.input("availability.dags", "", given);
    let dags = match deployment.site_model() {
        Some(SiteModel::ActiveActiveGroups) => given * 2.0,
        _ => given,
    };
    let dags = work.put("srv.dags", "", dags);
    let per_site = f64::from(availability.servers_per_site);
    let per_site = work
        .sheet
        .input("availability.servers_per_site", "", per_site);
    let active = work.put("srv.active_dc1", "", per_site);
    let parts = if deployment.has_copies() {
        dags
    } else {
        active
    };
    let parts = work.put("srv.parts", "", parts);
    let per_part = work.get("mailboxes.total") / parts;
    work.put("srv.mailboxes_per_dag", "", per_part);
    let (first, first_lagged) = deployment.copies_in_first_site();
    let (second, second_lagged) = deployment.copies_in_second_site();
    for (key, count) in [
        ("copies.total", deployment.total_copies()),
        ("copies.first_site", first),
        ("copies.first_site_lagged", first_lagged),
        ("copies.second_site", second),
        ("copies.second_site_lagged", second_lagged),
    ] {
        work.sheet.input(key, "", f64::from(count));
    }
}
