"""Level `app`: functions of applications that ask cognitive services (Keeper).

`providers` has one folder for each provider; `static_analysis` reads an application's text, runs
nothing of it, and tells which functions call them and which branches depend on what they answer;
`dead_conditions` tells which of their conditions no answer can change; `exploration` calls them
with one made answer after the other, in a process where `in_target` stands between the application
and its clients. `input_synthesis` makes inputs in which people recognise something,
`virtualization` answers in the place of a service, `emulation` as a service of its own, `accuracy`
runs functions with both and judges them, `repair` suggests what to change. `reports` puts all of it
in words, for `commands`, which `settings` declares. Beside them stands the level as campaigns know
it, with `spec` as its centre.
"""
