"""Runs an application on inputs that people would recognise, and tells where it does not.

`aims` says what inputs a sub-condition is meant for; `trials` runs a function on them, with an
engine in the place of the service; `assess` judges what came of it (Keeper, section 4).
"""
