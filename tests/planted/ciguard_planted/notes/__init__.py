"""A provider of another project: a service on this machine; see `spec`."""
