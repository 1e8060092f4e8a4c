"""What is on disk is what installs: packages, the links between them, and everything a wheel has to carry."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[2]
SETUPTOOLS: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "setuptools"
]
OUTSIDE: Final = ("app", "loaders", "sample_traces", "tui")
"""Folders of the root that are sub-packages of `ctxview`."""
DATA: Final = {".sql", ".tcss", ".jsonl", ".json", ".csv", ".toml", ".typed"}


def folder_of(package: str) -> Path:
    """Where a package lies, by the map that setuptools installs from."""
    outer = max((p for p in SETUPTOOLS["package-dir"] if package == p or package.startswith(p + ".")), key=len)
    return ROOT / SETUPTOOLS["package-dir"][outer] / Path(*package[len(outer) :].strip(".").split("."))


def packages_on_disk() -> set[str]:
    found = set()
    for top, name in [("ctxview", "ctxview"), *((o, f"ctxview.{o}") for o in OUTSIDE)]:
        for folder, below, files in os.walk(ROOT / top):  # links to the folders outside are not followed
            below[:] = [b for b in below if b != "__pycache__"]
            if "__init__.py" in files:
                parts = Path(folder).relative_to(ROOT / top).parts
                found.add(".".join((name, *parts)))
            else:
                assert not any(f.endswith(".py") for f in files), f"{folder} has modules and no __init__.py"
    return found


def test_every_package_on_disk_is_listed() -> None:
    assert set(SETUPTOOLS["packages"]) == packages_on_disk()


def test_the_list_is_sorted_and_each_is_there_once() -> None:
    assert SETUPTOOLS["packages"] == sorted(set(SETUPTOOLS["packages"]))


@pytest.mark.parametrize("name", OUTSIDE)
def test_the_folders_of_the_root_are_linked_into_the_package(name: str) -> None:
    """Type checker, import contracts and editors see one package through these."""
    link = ROOT / "ctxview" / name
    if not link.is_symlink() and link.is_file():
        pytest.skip("this checkout has no symbolic links; see CONTRIBUTING.md")
    assert link.is_symlink()
    assert os.readlink(link) == f"../{name}"
    assert link.resolve() == ROOT / name


def test_every_top_package_says_that_it_is_typed() -> None:
    for top in ("ctxview", *OUTSIDE):
        assert (ROOT / top / "py.typed").is_file(), top


def expected_files() -> set[str]:
    """Every module and data file of the listed packages, by its path inside the wheel."""
    found = set()
    for package in SETUPTOOLS["packages"]:
        for path in folder_of(package).iterdir():
            if path.is_file() and (path.suffix in DATA | {".py"} or path.name == "py.typed"):
                found.add("/".join([*package.split("."), path.name]))
    return found


@pytest.mark.slow
def test_the_wheel_holds_every_module_and_data_file_and_nothing_else(tmp_path: Path) -> None:
    if int(metadata.version("setuptools").split(".")[0]) < 77:
        pytest.skip("the installed setuptools is older than the build needs")
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    for top in ("ctxview", *OUTSIDE):
        shutil.copytree(ROOT / top, copy / top, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    build = "import sys, setuptools.build_meta as b; print(b.build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=copy, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        metadata_text = next(wheel.read(n).decode() for n in wheel.namelist() if n.endswith(".dist-info/METADATA"))
    assert names == expected_files()
    assert {"ctxview/store/schema.sql", "ctxview/tui/ctxview.tcss", "ctxview/sample_traces/refund.jsonl"} <= names
    assert "Provides-Extra: web" in metadata_text
