//! Problems of a deployment's groups: too many members, unequal sites.

use plan::deployment::SiteModel;
use units::{counted, three_digits};

use crate::finding::Severity::Violation;
use crate::key::Key;
use crate::remedy;
use crate::work::Work;

/// Members of a group, and the copies in each of its sites.
pub(super) fn judge(work: &mut Work<'_>) {
    let members = remedy::members(&work.sheet);
    let most = work.deployment.product.figures.dag_members.value;
    if work.deployment.has_copies() && members > most {
        let text = format!(
            "a group has {} and may have {}",
            counted(&three_digits(members), "member"),
            three_digits(most)
        );
        let otherwise = "take more groups (availability.dags) of fewer servers";
        let key = Key::ServerPerDag;
        let remedy = remedy::one_of(work, key, &[remedy::smaller_groups], otherwise);
        work.find(Violation, Key::ServerPerDag, text, remedy);
    }
    let here = work.value(Key::CopiesFirstSite) + work.value(Key::CopiesFirstSiteLagged);
    let there = work.value(Key::CopiesSecondSite) + work.value(Key::CopiesSecondSiteLagged);
    let both = work.deployment.site_model() == Some(SiteModel::ActiveActive);
    if both && (here - there).abs() > 0.5 {
        let text = format!(
            "{} in the first site and {} in the second: their servers carry different loads",
            counted(&three_digits(here), "copy"),
            three_digits(there)
        );
        let remedy = "give both sites of an active/active group the same number of copies";
        work.find(Violation, Key::CopiesSecondSite, text, remedy);
    }
}
