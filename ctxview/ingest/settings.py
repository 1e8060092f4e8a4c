"""What a project's `ctxview.toml` says of its traces: further rules for pins and resources."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

from ctxview.annotate.config import find_config, pin_rules, read_config
from ctxview.annotate.observations import ResourceRules
from ctxview.annotate.pins import PinRules
from ctxview.errors import UsageError
from ctxview.ingest.inputs import Inputs


@dataclass(frozen=True, slots=True)
class Settings:
    pins: PinRules = field(default_factory=PinRules)
    resources: ResourceRules = field(default_factory=ResourceRules)
    stamp: str = ""
    """Changes when the file does; empty without one. Facts made under another stamp are made anew."""


def settings_for(inputs: Inputs) -> Settings:
    """The settings that hold for these files. Raises UsageError naming the file, the line and the key that is wrong."""
    first = next((f.path for f in inputs.files if f.path is not None), None)
    path = find_config(first)
    if path is None:
        return Settings()
    config = read_config(path)
    table = config.tables.get("resources", {})
    try:
        resources = ResourceRules.from_toml(table) if isinstance(table, dict) else ResourceRules()
    except UsageError as error:
        raise UsageError(f"{config.path}: {error.cause}", error.fix) from None
    if not isinstance(table, dict):
        raise config.error("resources", "is not a table", "write it as a table: [resources]")
    return Settings(pin_rules(config), resources, blake2b(config.source.encode(), digest_size=12).hexdigest())
