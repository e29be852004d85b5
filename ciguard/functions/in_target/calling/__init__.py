"""Calls of annotated functions, from their JSON form to their result.

`caller` builds the arguments (`building`), makes the call (`running`) and checks the result
(`judging`). Runs in a target's interpreter.
"""
