"""From the JSON form of a call to what came of it.

`building` makes the arguments, `running` the call, `judging` looks at what it did; `caller` holds
them together. Runs in a target's interpreter.
"""
