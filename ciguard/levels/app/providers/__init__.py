"""What cognitive services offer, and how each provider's clients and services are answered.

`contract` is what makes a provider, `registered` finds those that there are: one folder each, and
one line in `registered`, or an entry point of another package. In the folder, `spec` is the
provider; `services.toml` describes its clients and operations; `messages` writes what is recognised
as its services say it; `service` answers its requests by HTTP, which `requests` reads; `in_target`
runs in the application's interpreter, in the place of its clients. They share `description`,
`recognised`, `codes`, `described`, and for HTTP `request` and `reading`.
"""
