"""Look-ups and updates of records and pages by tools of any name: `get_order(order_id=7)` is `record:order:7`.

Only a call with one id that can be told is a resource; everything else stays an event, which is never merged.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from ctxview.annotate.observations.ask import Ask, Target, first_text, names
from ctxview.annotate.observations.keys import record_key, url_key
from ctxview.annotate.observations.seen import hash_of

_READS: Final = names("get lookup look find fetch retrieve show describe read load")
_EDITS: Final = names(
    """
    update cancel set modify change edit delete remove close reopen patch return exchange
    """
)
_PAGES: Final = names("fetch webfetch get read open browse visit scrape crawl extract http request")
_FILLERS: Final = names("details detail info information by data record full status")
_BODIES: Final = ("body", "data", "payload", "json", "form")


def page_ask(tool: str, args: dict[str, Any]) -> Ask | None:
    """The ask of a tool that gets a page by its URL; None for others, and for anything but a plain GET."""
    url = first_text(args, "url", "uri", "link")
    key = url_key(url) if url else None
    if key is None or not _PAGES & set(tool.split("_")):
        return None
    if str(args.get("method") or "GET").upper() != "GET" or any(args.get(name) for name in _BODIES):
        return None
    prompt = first_text(args, "prompt", "question", "instructions")
    question = hash_of(prompt.encode("utf-8", "surrogatepass")) if prompt else None
    return Ask((Target(key, "read", "a page by its URL", question=question),))


def record_ask(tool: str, arguments: Any) -> Ask | None:
    """The ask of a record tool, by the first word of its name and its one id argument; None for others."""
    if not isinstance(arguments, dict):
        return None
    words = tool.split("_")
    effect = "read" if words[0] in _READS else "edit" if words[0] in _EDITS else None
    if effect is None or len(words) < 2:
        return None
    found = _id_of(words, arguments)
    if found is None:
        return None
    name, table, value = found
    key = record_key(table, value)
    if effect == "read":
        return Ask((Target(key, "read", "a record by its id"),))
    return Ask((Target(key, "edit", "a change to a record by its id", returns=name),))


def _id_of(words: list[str], arguments: dict[str, Any]) -> tuple[str, str, str] | None:
    """Argument, table and value of the record's id: the id whose table the tool's name has, else the only id."""
    ids = []
    for name, value in arguments.items():
        table = _table(name)
        if table is None or isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            continue
        ids.append((name, table, str(value).strip()))
    named = [found for found in ids if found[1] and (found[1] in words or found[1] in "_".join(words[1:]))]
    ids = named or ids
    if len(ids) != 1:
        return None
    name, table, value = ids[0]
    table = table or "_".join(word for word in words[1:] if word not in _FILLERS and word not in ("id", "up"))
    return (name, table, value) if table and len(value) <= 200 else None


@lru_cache(maxsize=1024)
def _table(argument: str) -> str | None:
    """The table that an argument's name says it holds an id of; empty when it says only that, None for no id."""
    plain = argument.lower().replace("-", "_")
    if plain in ("id", "uuid"):
        return ""
    if plain.endswith(("_id", "_uuid")) or argument.endswith(("Id", "ID")):
        return plain.rsplit("_", 1)[0] if "_" in plain else plain[:-2]
    return None
