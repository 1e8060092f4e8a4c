"""In CI the same examples are generated on every run, so that a result belongs to the commit and not to chance."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")
