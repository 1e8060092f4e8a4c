"""`ctxview sample`: the bundled traces."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from ctxview.cli.open_ import has_terminal, open_in_terminal
from ctxview.cli.options import Named, json_option, print_json
from ctxview.cli.plain import say
from ctxview.errors import UsageError
from ctxview.focus import Focus


@click.command("sample")
@click.argument("name", required=False)
@click.option("--copy", "folder", metavar="FOLDER", help="Copy the sample's files there instead of opening it.")
@json_option
def command(name: str | None, folder: str | None, as_json: bool) -> int:
    """List, open or copy the bundled sample traces.

    Without NAME it lists them. Each shows one way in which a context window fails an agent.
    """
    from ctxview.sample_traces import SAMPLES, sample_path

    if name is None:
        if as_json:
            print_json(
                [
                    {"name": s.name, "title": s.title, "shows": s.shows, "path": str(sample_path(s.name))}
                    for s in SAMPLES
                ]
            )
            return 0
        for sample in SAMPLES:
            say(f"{sample.name:<10}{sample.title}")
            say(f"{'':<10}{sample.shows}")
        say("\nOpen one with `ctxview sample NAME`.")
        return 0
    if name not in {s.name for s in SAMPLES}:
        raise UsageError(f"no sample {name!r}", f"choose from: {', '.join(s.name for s in SAMPLES)}")
    path = sample_path(name)
    if folder is not None:
        return _copy(path, Path(folder))
    trace = Named((str(path),))
    if has_terminal():
        return open_in_terminal(trace, Focus())
    from ctxview.cli.show import print_window

    return print_window(trace, None, "last")


def _copy(path: Path, folder: Path) -> int:
    """Copy a sample with what lies beside it; never over a file that is there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted(path.parent.glob(f"{path.stem}.*")):
            target = folder / source.name
            with target.open("xb") as out, source.open("rb") as data:
                shutil.copyfileobj(data, out)
            say(str(target))
    except FileExistsError as error:
        raise UsageError(f"{error.filename} is there already", "choose another folder, or move it away") from None
    except OSError as error:
        raise UsageError(f"cannot write to {folder}: {error.strerror}", "choose a folder that can be written") from None
    return 0
