"""Level `app`: functions of applications that call cognitive services, as in the Keeper paper.

`providers` has one folder for each provider. `static_analysis` parses an application, without
running it, and finds the functions that call services and the branches that answers decide.
`dead_conditions` finds conditions that no answer can change. `exploration` calls functions with
stub responses, in a process where `in_target` intercepts the clients. `input_synthesis` makes
inputs that should make a condition true. `virtualization` answers in place of a service, and
`emulation` serves such answers over the network. `accuracy` runs functions on synthesised inputs
and judges their branches; `repair` suggests patches. `reports` writes the results of `commands`,
which `settings` declares. `spec` registers the level for campaigns.
"""
