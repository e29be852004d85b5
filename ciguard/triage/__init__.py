"""Triage: confirm, fingerprint, bucket, reproducer."""
