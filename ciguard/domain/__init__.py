"""The vocabulary: cases, values, outcomes, findings, buckets, events. Plain frozen data, no I/O.

Every other package exchanges these types. Start reading here, then follow the pipeline in
docs/architecture.md.
"""
