//! Matches completions with requests. The block layer merges requests, so one completion may
//! complete several.

use std::collections::BTreeMap;

use crate::{IoDirection, TraceRequest};

/// Key of pending requests: volume, whether it is a write, byte offset.
type RequestPlace = (u16, bool, u64);

fn place(request: &TraceRequest) -> RequestPlace {
    (request.volume, request.direction == IoDirection::Write, request.offset)
}

/// Matches `completed` to `requests`, both in order of time; returns the index of each completed
/// request and its duration in nanoseconds. A completion ends every pending request that begins
/// inside it; a request that is repeated before it ends counts from its last submission.
pub(crate) fn answers(
    requests: &[TraceRequest],
    completed: impl Iterator<Item = TraceRequest>,
) -> Vec<(usize, u64)> {
    let mut pending: BTreeMap<RequestPlace, usize> = BTreeMap::new();
    let mut asked = requests.iter().enumerate().peekable();
    let mut answers = Vec::new();
    for end in completed {
        while let Some((at, request)) = asked.next_if(|(_, request)| request.time <= end.time) {
            pending.insert(place(request), at);
        }
        let (volume, is_write, from) = place(&end);
        let range = (volume, is_write, from)..(volume, is_write, from.saturating_add(end.length));
        let ended: Vec<(RequestPlace, usize)> =
            pending.range(range).map(|(place, at)| (*place, *at)).collect();
        for (place, at) in ended {
            pending.remove(&place);
            answers.push((at, end.time - requests[at].time));
        }
    }
    answers
}

#[cfg(test)]
mod tests {
    use crate::Trace;

    #[test]
    fn a_completion_ends_the_requests_that_were_merged_into_it() {
        let lines = [
            "8,0 3 1 0.000000000 697 Q W 100 + 8 [mail]",
            "8,0 3 2 0.000100000 697 Q W 108 + 8 [mail]",
            "8,0 3 3 0.000200000 697 Q R 100 + 8 [mail]",
            "8,16 3 4 0.000300000 697 Q R 7 + 8 [mail]",
            "8,0 3 5 0.004000000 0 C W 100 + 16 [0]",
            "8,16 3 6 0.005300000 0 C R 7 + 8 [0]",
        ];
        let trace = Trace::read(&lines.join("\n")).unwrap();
        assert_eq!(trace.volumes, ["8,0", "8,16"]);
        assert_eq!(trace.answers, [(0, 4_000_000), (1, 3_900_000), (3, 5_000_000)]);
        assert_eq!(trace.requests.len(), 4);
    }
}
