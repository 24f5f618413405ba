//! Problems of the link between the sites of a deployment.

use std::borrow::Cow;

use crate::decision::Decision;
use crate::finding::Severity::{Violation, Warning};
use crate::key::Key;
use crate::network::LINKS;
use crate::remedy;
use crate::work::Work;

/// If the link is slower than the recovery point needs, copies fall behind for good. If it is
/// slower than the peak, they fall behind for hours each day, which the recovery point may allow.
pub(super) fn judge(work: &mut Work<'_>) {
    let no = Some(Decision::Answer(false));
    let throughput = Key::NetworkLinkThroughputMbps;
    if work.sheet.decision(Key::NetworkLinkOkRpo) == no {
        let [carried, needed] = work.beside(throughput, Key::NetworkEnvironmentMbps);
        let text = format!(
            "{carried} go through the link and {needed} are needed within the recovery point, {} \
             in the busiest hour",
            work.shown(Key::NetworkPeakEnvironmentMbps)
        );
        let remedy = link_remedy(work);
        work.find(Violation, Key::NetworkLinkOkRpo, text, remedy);
    } else if work.sheet.decision(Key::NetworkLinkOkPeak) == no {
        let [carried, needed] = work.beside(throughput, Key::NetworkPeakEnvironmentMbps);
        let text = format!(
            "{carried} go through the link and the busiest hour needs {needed}: copies of the \
             second site fall behind in it, as far as the recovery point allows"
        );
        let remedy = faster_link(work, Key::NetworkLinkOkPeak)
            .unwrap_or_else(|| "take a faster link or one with less latency".to_owned());
        work.find(Warning, Key::NetworkLinkOkPeak, text, remedy);
    }
}

/// A link for the recovery point, and a faster one if the busiest hour needs it.
fn link_remedy(work: &Work<'_>) -> Cow<'static, str> {
    let enough = faster_link(work, Key::NetworkLinkOkRpo);
    let faster = faster_link(work, Key::NetworkLinkOkPeak).filter(|of| enough.as_ref() != Some(of));
    let faster = faster.map(|link| format!("{link} to keep up in the busiest hour too"));
    let longer = enough.is_some().then(|| "a longer recovery point".to_owned());
    let otherwise = "take a faster link or one with less latency, or allow a longer recovery point";
    remedy::one_of([enough, faster, longer], otherwise)
}

/// The smallest usual link with which the question under `key` is answered with yes.
fn faster_link(work: &Work<'_>, key: Key) -> Option<String> {
    let yes = Some(Decision::Answer(true));
    remedy::faster_link(work.deployment, &LINKS, |sheet| sheet.decision(key) == yes)
}
