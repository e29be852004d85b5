"""Clients of cognitive services: no libraries of arrays, and no API of theirs is tested."""
