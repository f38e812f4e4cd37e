"""Measurements: ratios and figures side by side, never part of the tests."""
