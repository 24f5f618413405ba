"""Reads a request for a collector of OpenTelemetry by the published schema, which refuses what it
does not know, and prints each histogram of it: read_otlp.py FILE. A line has the name, the kind of
requests, the count, the sum of the buckets, and the ends of the first and the last bucket."""

import sys
from pathlib import Path

from google.protobuf import json_format
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

request = json_format.Parse(Path(sys.argv[1]).read_text(), ExportMetricsServiceRequest())
for resource in request.resource_metrics:
    names = {of.key: of.value.string_value for of in resource.resource.attributes}
    if names.get("service.name") != "plimsoll":
        sys.exit(f"the service is {names}")
    for metric in (metric for scope in resource.scope_metrics for metric in scope.metrics):
        if not metric.description:
            sys.exit(f"{metric.name}: has no description")
        if metric.WhichOneof("data") != "exponential_histogram":
            continue
        if metric.exponential_histogram.aggregation_temporality != AGGREGATION_TEMPORALITY_CUMULATIVE:
            sys.exit(f"{metric.name}: is not cumulative")
        for point in metric.exponential_histogram.data_points:
            labels = {of.key: of.value.string_value for of in point.attributes}
            base = 2 ** (2**-point.scale)
            counts = list(point.positive.bucket_counts)
            first = base**point.positive.offset
            last = base ** (point.positive.offset + len(counts))
            total = point.zero_count + sum(counts)
            print(metric.name, labels.get("kind"), point.count, total, first, last)
