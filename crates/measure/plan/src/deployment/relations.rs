//! Constraints between values of different sections, and the line to report for each.

use units::Bytes;

use super::model::{Deployment, SiteModel};
use crate::complaint::{Complaint, Problem};
use crate::reader::TomlPlace;

/// Positions of the values that are compared with each other.
#[derive(Default)]
pub(super) struct Relations {
    pub servers: TomlPlace,
    pub copies: TomlPlace,
    pub lagged: TomlPlace,
    pub second: TomlPlace,
    pub second_copies: TomlPlace,
    pub second_lagged: TomlPlace,
    pub largest_database: TomlPlace,
    pub metacache: TomlPlace,
}

/// Largest database that can be handled in reasonable time: 2 TB. Source: S-STO.
const LARGEST_DATABASE: Bytes = Bytes::from_gib(2048);

/// Complains about every contradiction.
pub(super) fn check(
    deployment: &Deployment,
    relations: &Relations,
    complaints: &mut Vec<Complaint>,
) {
    // One mistake may cause many contradictions, so only complete documents are checked.
    if !complaints.is_empty() {
        return;
    }
    let found = [
        members(deployment, relations),
        copies(deployment, relations),
        second_copies(deployment, relations),
        lagged(deployment, relations),
        needs_copies(deployment, relations),
        database(deployment, relations),
        no_metacache(deployment, &relations.metacache),
    ];
    complaints.extend(found.into_iter().flatten());
}

fn conflict(place: &TomlPlace, message: String) -> Complaint {
    place.complaint(Problem::Conflict { message })
}

/// A group has at most as many members as the product allows.
fn members(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    let most = deployment.product.figures.dag_members.value;
    let per_site = deployment.availability.servers_per_site;
    let sites = match deployment.site_model() {
        Some(SiteModel::ActiveActive) => 2,
        _ => 1,
    };
    let members = sites * per_site;
    if !deployment.has_copies() || f64::from(members) <= most {
        return None;
    }
    Some(conflict(
        &relations.servers,
        format!(
            "a group would have {members} members and may have {most}; give {} or less, and more \
             groups with `dags`",
            (most / f64::from(sites)).floor()
        ),
    ))
}

/// Each server holds at most one copy of a database. The workbook counts both sites together, so
/// compatible mode does not check this here: sizing gives the workbook's numbers, and the layout is
/// refused.
fn copies(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    let (first, first_lagged) = deployment.copies_in_first_site_checked()?;
    let lagged = if deployment.availability.lagged_on_own_servers { 0 } else { first_lagged };
    let servers = deployment.availability.servers_per_site;
    let needed = first + lagged;
    let place = match deployment.second_site {
        Some(_) => &relations.servers,
        None => &relations.copies,
    };
    (deployment.has_copies() && !deployment.is_compatible() && needed > servers).then(|| {
        conflict(
            place,
            format!(
                "{needed} copies of a database in a site need {needed} servers, and it has \
                 {servers}; raise `servers_per_site` or give fewer copies"
            ),
        )
    })
}

fn second_copies(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    let site = deployment.second_site.as_ref()?;
    let all = &deployment.availability;
    let half = all.copies / 2;
    if site.copies > half {
        let message = format!(
            "only {half} of {} copies may stand in the second site; give {half} or less",
            all.copies
        );
        return Some(conflict(&relations.second_copies, message));
    }
    if site.lagged_copies > all.lagged_copies {
        let message = format!(
            "exceeds `lagged_copies` of [availability], which counts both sites; give {} or less",
            all.lagged_copies
        );
        return Some(conflict(&relations.second_lagged, message));
    }
    let needed = site.copies + site.lagged_copies;
    let counted = !all.lagged_on_own_servers && !deployment.is_compatible();
    (counted && needed > all.servers_per_site).then(|| {
        conflict(
            &relations.second_copies,
            format!(
                "{needed} copies of a database in the second site need {needed} servers, and it \
                 has {}; raise `servers_per_site` or give fewer copies",
                all.servers_per_site
            ),
        )
    })
}

fn lagged(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    // The workbook accepts a lag without copies, and counts it.
    let stands = deployment.has_copies() || deployment.is_compatible();
    (deployment.availability.lagged_copies > 0 && !stands).then(|| {
        let message = "a late copy alone cannot take over; give `copies = 2` or more";
        conflict(&relations.lagged, message.to_owned())
    })
}

fn needs_copies(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    (deployment.second_site.is_some() && !deployment.has_copies()).then(|| {
        let message = "a second site needs copies; give `copies = 2` or more in [availability], \
                       or remove the section";
        conflict(&relations.second, message.to_owned())
    })
}

/// Rejects an oversized database before anything is calculated from it.
fn database(deployment: &Deployment, relations: &Relations) -> Option<Complaint> {
    let largest = deployment.data.largest_database?;
    (largest > LARGEST_DATABASE).then(|| {
        let message = "is more than 2 TiB, the largest that can be kept, checked and copied anew \
                       in reasonable time; give \"2TiB\" or less";
        conflict(&relations.largest_database, message.to_owned())
    })
}

impl Deployment {
    /// Copies and lagged copies in the first site; `None` if the second site claims more than
    /// exist.
    fn copies_in_first_site_checked(&self) -> Option<(u32, u32)> {
        let (copies, lagged) = self.copies_in_second_site();
        let all = &self.availability;
        Some((all.copies.checked_sub(copies)?, all.lagged_copies.checked_sub(lagged)?))
    }
}

/// Returns why the deployment cannot have `MetaCache` databases. Source: S-MCDB.
fn no_metacache(deployment: &Deployment, place: &TomlPlace) -> Option<Complaint> {
    deployment.metacache?;
    let product = &deployment.product;
    let message = if !product.has_metacache() {
        format!(
            "{} has no MetaCache databases; give `product = \"2019\"` or `product = \"SE\"`, or \
             remove the section",
            product.name
        )
    } else if !deployment.has_copies() {
        "MetaCache databases need a database availability group; give `copies = 2` or more in \
         [availability], or remove the section"
            .to_owned()
    } else {
        return None;
    };
    Some(place.complaint(Problem::Conflict { message }))
}
