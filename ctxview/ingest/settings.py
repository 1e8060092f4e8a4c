"""What a project's `ctxview.toml` says of its traces: further rules for pins and resources."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxview.annotate.config import pin_rules, read_config
from ctxview.annotate.observations.rules import ResourceRules
from ctxview.annotate.pins.rules import PinRules
from ctxview.errors import UsageError
from ctxview.ingest.inputs import Inputs, config_of


@dataclass(frozen=True, slots=True)
class Settings:
    pins: PinRules = field(default_factory=PinRules)
    resources: ResourceRules = field(default_factory=ResourceRules)


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
        raise UsageError(f"{config.path}: {error.cause}", error.fix) from None
    return Settings(pin_rules(config), resources)
