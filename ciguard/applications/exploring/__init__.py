"""Calls an application's functions with one answer after the other, until its goals are met.

Answers are made from the literals that conditions compare with, beside empty and many results; they
go through the application's own code, so what it makes of them needs no model.
"""
