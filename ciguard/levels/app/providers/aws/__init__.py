"""Support for AWS; `spec` has the provider."""
