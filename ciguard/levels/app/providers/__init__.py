"""Cognitive services by provider: their operations, and how ciguard answers in their place.

`contract` defines a provider. `registered` finds the providers: one folder each, with one line in
`registered` or an entry point of another package. In the folder, `spec` is the provider;
`services.toml` describes its clients and operations; `messages` writes recognised content in the
format of its services; `service` answers its requests by HTTP, which `request` defines; `in_target`
runs in the application's interpreter, in place of its clients. Shared modules: `description`,
`recognised`, `codes`, `described`, and for HTTP `request` and `reading`.
"""
