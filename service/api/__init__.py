"""The JSON door: everything under ``/api/v1``, its description and its health."""
