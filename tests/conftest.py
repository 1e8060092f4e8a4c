"""The same examples are generated on every run, so that a result belongs to the commit and not to chance.

`HYPOTHESIS_PROFILE=search python -m pytest ...` looks for new ones.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# How fast examples are made says something about the machine, and nothing about what is tested.
settings.register_profile("same", derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("search")
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))
