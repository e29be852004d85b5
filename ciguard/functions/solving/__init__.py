"""Which values the annotations and preconditions of a call leave for one argument.

`expressions` are evaluated on `views` of drawn values. References to other arguments become numbers
(`resolving`), a constraint falls apart into kinds with ranges (`alternatives`, `intervals`), the
preconditions narrow these (`box`, with `quantities`, `ranges` and `congruences`), and what is left
is a constraint again (`narrowing`), in the end one of the language of values (`constraints`).
"""
