"""Support for clients of cognitive services, whose own APIs are not tested."""
