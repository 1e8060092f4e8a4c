"""The same input gives the same bytes in another process, whatever the hash seed: no clock, no chance, no set order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
SCRIPT: Final = """
import hashlib
from tests.replay.histories import FULL, session
from tests.replay.sessions import shown
from tests.replay.test_properties import TEXTS, run, told
digest = hashlib.sha256()
for text in TEXTS:
    view = run(session(FULL), "recorded," + text).view
    for turn in range(1, view.now + 1):
        digest.update(repr((text, turn, shown(view, turn), told(view, turn))).encode())
print(len(TEXTS), digest.hexdigest())
"""


def test_u4_every_policy_gives_the_same_bytes_under_another_hash_seed() -> None:
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT], cwd=ROOT, text=True, stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": seed},
        )
        for seed in ("1", "2")
    ]  # fmt: skip
    first, second = (process.communicate()[0] for process in processes)
    assert first == second
    assert int(first.split()[0]) > 30
