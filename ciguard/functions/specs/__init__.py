"""Programs, their annotated functions, and calls of these, as data.

`kinds` are the constraints of arguments, `functions` what is annotated with them, `reading` takes
both from the JSON that a target sends.
"""
