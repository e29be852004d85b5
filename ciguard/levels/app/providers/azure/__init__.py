"""Support of Azure; see `spec`."""
