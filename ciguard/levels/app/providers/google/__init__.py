"""Support for Google Cloud; `spec` has the provider."""
