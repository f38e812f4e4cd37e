"""The terminal's door: ``papershelf …``, one module a topic."""
