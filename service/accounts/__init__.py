"""People of this installation, their passwords and their tokens."""
