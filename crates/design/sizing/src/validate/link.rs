//! Problems of the link between the sites of a deployment.

use crate::decision::Decision;
use crate::finding::Severity::{Violation, Warning};
use crate::key::Key;
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
        let otherwise = "take a faster link or one with less latency, and allow a longer recovery \
                         point";
        let remedy = remedy::one_of(work, Key::NetworkLinkOkRpo, &[remedy::faster_link], otherwise);
        work.find(Violation, Key::NetworkLinkOkRpo, text, remedy);
    } else if work.sheet.decision(Key::NetworkLinkOkPeak) == no {
        let [carried, needed] = work.beside(throughput, Key::NetworkPeakEnvironmentMbps);
        let text = format!(
            "{carried} go through the link and the busiest hour needs {needed}: copies of the \
             second site fall behind in it, as far as the recovery point allows"
        );
        let otherwise = "take a faster link or one with less latency";
        let remedy =
            remedy::one_of(work, Key::NetworkLinkOkPeak, &[remedy::faster_link], otherwise);
        work.find(Warning, Key::NetworkLinkOkPeak, text, remedy);
    }
}
