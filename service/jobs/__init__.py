"""The background door: a queue that says there is work, and what is done then."""
