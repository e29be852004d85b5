"""Support for Azure; `spec` has the provider."""
