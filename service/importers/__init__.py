"""Every way a list of papers comes in: one module a format, text in and records out."""
