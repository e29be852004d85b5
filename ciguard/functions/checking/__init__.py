"""What can be told without running anything of the user.

`annotations` and `unsatisfiable` say which annotations cannot be meant, `validity` whether a call
that was changed still keeps to them, `about` what a case knows of the functions that it calls.
"""
