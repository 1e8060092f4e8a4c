"""What a project's `ctxview.toml` says of its traces: further rules for pins, resources and notes."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxview.annotate.config import note_rules, pin_rules, read_config, unknown_tables
from ctxview.annotate.note_rules import NoteRules
from ctxview.annotate.observations.rules import ResourceRules
from ctxview.annotate.pins.rules import PinRules
from ctxview.errors import UsageError
from ctxview.ingest.inputs import Inputs, config_of
from ctxview.model import Issue


@dataclass(frozen=True, slots=True)
class Settings:
    pins: PinRules = field(default_factory=PinRules)
    resources: ResourceRules = field(default_factory=ResourceRules)
    notes: NoteRules = field(default_factory=NoteRules)
    issues: tuple[Issue, ...] = ()
    """What the file says and nothing reads."""


def settings_for(inputs: Inputs) -> Settings:
    """The settings that hold for these files. Raises UsageError naming the file, the line and the key that is wrong."""
    path = config_of(inputs)
    if path is None:
        return Settings()
    config = read_config(path)
    table = config.tables.get("resources", {})
    if not isinstance(table, dict):
        raise config.error("resources", "is not a table", "write it as a table: [resources]")
    try:
        resources = ResourceRules.from_toml(table)
    except UsageError as error:
        raise config.located(error) from None
    issues = tuple(
        Issue(str(config.path), line, None, "warning", reason) for line, reason in unknown_tables(config)
    )
    return Settings(pin_rules(config), resources, note_rules(config), issues)
