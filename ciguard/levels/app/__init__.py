"""Level `app`: functions of applications that call cognitive services (Keeper).

`providers` has one folder for each provider. `static_analysis` parses an application, without
running it, and finds the functions that call services and the branches that answers decide.
`dead_conditions` finds conditions that no answer can change. `exploration` calls functions with
stub responses, in a process where `in_target` intercepts the clients. `input_synthesis` makes
inputs for what a condition should recognise. `virtualization` answers in place of a service, and
`emulation` runs such answers as a server. `accuracy` runs functions on synthesised inputs and
judges their branches; `repair` suggests patches. `reports` writes the results for `commands`, which
`settings` declares. `spec` registers the level for campaigns.
"""
