"""Differential tests against the packages whose policies ours say they equal. Without those packages they are skipped.

Install them with `pip install --group oracle` (pip 25.1 or newer), in an environment of their own if you like. With
`CTXVIEW_ORACLES=required` a test whose package is absent fails, as in continuous integration.
"""
