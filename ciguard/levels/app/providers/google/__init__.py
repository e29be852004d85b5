"""Support of Google Cloud; see `spec`."""
