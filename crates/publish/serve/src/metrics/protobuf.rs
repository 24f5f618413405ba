//! The protobuf format of Prometheus: length-prefixed `MetricFamily` messages of its client model.
//! It is the only format from which a server accepts native histograms.

use super::latencies::{SCALE, ZERO_S};
use super::{Latencies, Metric, Sample, SampleValue};
use crate::live::BARS_NS;

/// `GAUGE` and `HISTOGRAM` of the enumeration `MetricType`.
const KINDS: [u64; 2] = [1, 4];

/// A message in the making.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    /// Appends a number in as few bytes as possible, seven bits in each.
    fn push_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value.to_le_bytes()[0] | 0x80);
            value >>= 7;
        }
        self.0.push(value.to_le_bytes()[0]);
    }

    fn unsigned(mut self, field: u64, value: u64) -> Self {
        self.push_varint(field << 3);
        self.push_varint(value);
        self
    }

    /// Appends a signed number in zigzag encoding: 0, -1, 1, -2, ...
    fn signed(self, field: u64, value: i64) -> Self {
        self.unsigned(field, zigzag(value))
    }

    fn double(mut self, field: u64, value: f64) -> Self {
        self.push_varint(field << 3 | 1);
        self.0.extend(value.to_le_bytes());
        self
    }

    fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        self.push_varint(field << 3 | 2);
        self.push_varint(value.len() as u64);
        self.0.extend(value);
        self
    }

    fn message(self, field: u64, value: &Self) -> Self {
        self.bytes(field, &value.0)
    }
}

const fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

/// All metrics.
pub(super) fn families(metrics: &[Metric]) -> Vec<u8> {
    let mut all = Message::default();
    for metric in metrics {
        let family = family(metric);
        all.push_varint(family.0.len() as u64);
        all.0.extend(family.0);
    }
    all.0
}

fn family(metric: &Metric) -> Message {
    let kind = KINDS[usize::from(metric.is_histogram())];
    let family = Message::default()
        .bytes(1, metric.name.as_bytes())
        .bytes(2, metric.help.as_bytes())
        .unsigned(3, kind);
    metric.samples.iter().fold(family, |family, one| family.message(4, &sample(one)))
}

fn sample(sample: &Sample) -> Message {
    let labelled = sample.labels.iter().fold(Message::default(), |message, (name, value)| {
        let pair = Message::default().bytes(1, name.as_bytes()).bytes(2, value.as_bytes());
        message.message(1, &pair)
    });
    match &sample.value {
        SampleValue::Level(value) => labelled.message(2, &Message::default().double(1, *value)),
        SampleValue::Latencies(of) => labelled.message(7, &histogram(of)),
    }
}

/// Writes both classic and native buckets; a server uses those that it stores.
fn histogram(of: &Latencies) -> Message {
    let message = Message::default().unsigned(1, of.count).double(2, of.sum_s);
    let ends = BARS_NS.iter().map(|&end_ns| end_ns as f64 / 1e9).chain([f64::INFINITY]);
    let counts = of.within.iter().copied().chain([of.count]);
    let classic = ends.zip(counts).fold(message, |message, (end, count)| {
        message.message(3, &Message::default().unsigned(1, count).double(2, end))
    });
    let native = classic.signed(5, SCALE.into()).double(6, ZERO_S).unsigned(7, of.zero);
    // A span of length zero marks an empty histogram as a native one.
    let span = Message::default().signed(1, of.first.into()).unsigned(2, of.buckets.len() as u64);
    let mut changes = Message::default();
    let mut before = 0;
    for count in of.buckets.iter().map(|&count| i64::try_from(count).unwrap_or(i64::MAX)) {
        changes.push_varint(zigzag(count - before));
        before = count;
    }
    native.message(12, &span).message(13, &changes)
}

#[cfg(test)]
mod tests {
    use super::{Message, zigzag};

    #[test]
    fn numbers_are_written_as_the_encoding_has_them() {
        let message = Message::default().unsigned(1, 150).signed(5, -2).bytes(2, b"hi");
        assert_eq!(message.0, [0x08, 0x96, 0x01, 0x28, 0x03, 0x12, 2, b'h', b'i']);
        assert_eq!([0, -1, 1, i64::MIN].map(zigzag), [0, 1, 2, u64::MAX]);
    }
}
