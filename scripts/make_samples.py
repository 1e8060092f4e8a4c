"""Writes the bundled sample traces: `python scripts/make_samples.py [--out FOLDER]`.

Run it after a change under `scripts/samples/` and commit what it wrote; a test compares the two byte for byte.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # so that it also runs from a checkout that is not installed

from samples import collapse, ledger, refund, stale, tutor  # noqa: E402

MODULES = (collapse, tutor, stale, refund, ledger)


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the bundled sample traces.")
    parser.add_argument("--out", type=Path, default=ROOT / "sample_traces", help="folder to write to")
    out: Path = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        for name, text in module.build().items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
            print(f"{name}: {len(text.encode()):,} bytes")


if __name__ == "__main__":
    main()
