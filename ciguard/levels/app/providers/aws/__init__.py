"""Support of AWS; see `spec`."""
