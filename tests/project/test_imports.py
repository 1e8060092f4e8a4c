"""What starting costs: each part imports no more than it needs, so that the command line answers at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

HEAVY: Final = ("duckdb", "textual", "tiktoken", "rich", "streamlit", "plotly", "typer", "numpy", "pandas")
CORE: Final = (
    "ctxview.annotate", "ctxview.audit", "ctxview.errors", "ctxview.focus", "ctxview.images", "ctxview.model",
    "ctxview.policies", "ctxview.reconstruct", "ctxview.replay", "ctxview.sample_traces", "ctxview.text",
    "ctxview.tokens", "ctxview.window",
)  # fmt: skip
REPORT: Final = "import json, sys; print(json.dumps(sorted({m.split('.')[0] for m in sys.modules})), file=sys.stderr)"


def loaded_after(code: str, folder: Path) -> set[str]:
    """The top-level modules in a fresh process after `code`, from the last line that it wrote to stderr."""
    program = f"try:\n    {code}\nfinally:\n    {REPORT}"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        "import ctxview.cli.command",
        "from ctxview.cli import main; main(['--version'])",
        "from ctxview.cli import main; main(['--help'])",
        "from ctxview.cli import main; main(['formats', '--help'])",
        "from ctxview.cli import main; main(['show', '--help'])",
        "from ctxview.cli import main; main(['sample'])",
    ],
)
def test_the_command_line_starts_without_store_interface_or_tokenizer(code: str, tmp_path: Path) -> None:
    assert loaded_after(code, tmp_path).isdisjoint(HEAVY)


def test_formats_imports_loaders_alone(tmp_path: Path) -> None:
    loaded = loaded_after("from ctxview.cli import main; main(['formats'])", tmp_path)
    assert loaded.isdisjoint(HEAVY)


def test_importing_the_interface_is_cheap(tmp_path: Path) -> None:
    """Textual is loaded by `run`, when there is a terminal to draw on."""
    assert loaded_after("import ctxview.tui", tmp_path).isdisjoint(HEAVY)


@pytest.mark.parametrize("module", CORE)
def test_the_core_imports_no_interface_and_no_store(module: str, tmp_path: Path) -> None:
    assert loaded_after(f"import {module}", tmp_path).isdisjoint({*HEAVY, "click"})


def test_printing_a_window_loads_no_interface(tmp_path: Path) -> None:
    loaded = loaded_after("from ctxview.cli import main; main(['sample', 'refund'])", tmp_path)
    assert loaded.isdisjoint({"textual", "rich", "streamlit", "plotly"})
    assert "duckdb" in loaded  # so that this test is known to see what is loaded
