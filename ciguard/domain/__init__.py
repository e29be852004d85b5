"""The vocabulary: cases, values, outcomes, findings, buckets, events. Plain frozen data, no I/O.

Every other room speaks in these types. Start reading here, then walk the pipeline (see
docs/architecture.md).
"""
