"""Cognitive services by provider: their operations, and the stub responses of ciguard.

`contract` defines a provider. `registered` finds the providers: one folder each, with one line in
`registered` or an entry point of another package. Files of each folder:

- `spec` has the provider, which is one object
- `services.toml` describes its clients and operations
- `messages` writes recognised content in the format of its services
- `service` answers HTTP requests to its services
- `in_target` runs in the application's interpreter, in place of its clients

Modules that all providers share are `description`, `recognised`, `codes` and `described`, and for
HTTP `request` and `reading`.
"""
