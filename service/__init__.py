"""Papershelf's service: what it keeps, what it does, and the doors to it."""
