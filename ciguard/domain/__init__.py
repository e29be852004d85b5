"""The data types that packages exchange: cases, values, outcomes, findings, buckets and events.

All of them are frozen data, without I/O. Start reading here, then follow the pipeline in
docs/architecture.md.
"""
