"""`ctxview formats`: the formats that are understood."""

from __future__ import annotations

import click

from ctxview.cli.options import json_option, print_json
from ctxview.cli.plain import say, table


@click.command("formats")
@json_option
def command(as_json: bool) -> None:
    """The transcript formats that are understood.

    Files are recognised by what they hold, never by their name.
    """
    from ctxview.loaders import all_loaders, plugin_faults

    loaders = all_loaders()
    if as_json:
        print_json([{"name": loader.name, "title": loader.title} for loader in loaders])
    else:
        for line in table([(loader.name, loader.title) for loader in loaders]):
            say(line)
    for fault in plugin_faults():
        click.echo(f"ctxview: {fault}", err=True)
