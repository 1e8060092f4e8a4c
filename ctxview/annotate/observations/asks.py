"""A tool call to what it asks for: a person's rules first, then shells, file tools, pages, records; else an event."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import orjson

from ctxview.annotate.observations.ask import Args, Ask, Target, by_plain_name, first_text, names, parse, snake
from ctxview.annotate.observations.files import file_ask
from ctxview.annotate.observations.keys import file_key, full_path
from ctxview.annotate.observations.patches import BEGIN, patch_targets
from ctxview.annotate.observations.records import page_ask, record_ask
from ctxview.annotate.observations.rules import ResourceRules, ToolRule, fields_of, fill
from ctxview.annotate.observations.seen import text_of
from ctxview.annotate.observations.shell import shell_ask
from ctxview.annotate.patterns import lazy

_SHELLS: Final = names(
    """
    bash shell terminal execute_bash exec_command shell_command local_shell container_exec run_shell_command
    run_in_terminal execute_command run_command run_terminal_cmd run_terminal_command sh powershell_bash exec
    cmd_run local_shell_call
    """
)
KEEPS_FOLDER: Final = names("bash terminal execute_bash")
"""Shells in which a `cd` lasts until the next call."""
_SCRIPT_COMMAND: Final = lazy(
    r"""exec_command\(\s*\{(?:(?!exec_command\(\s*\{).)*?\bcmd["']?\s*:\s*("(?:[^"\\]|\\.)*")""", re.DOTALL
)
"""Not over the next one's beginning: each would be searched to the end of the text."""
_SCRIPT_FOLDER: Final = lazy(r"""\bworkdir["']?\s*:\s*("(?:[^"\\]|\\.)*")""")


def ask_of(tool: str, arguments: Any, text: str, cwd: str | None, rules: ResourceRules) -> Ask:
    """What the call of `tool` asks. `arguments` is `text` parsed; None when it is not JSON."""
    rule = rules.rule_for(tool) if rules.tools else None
    if rule is not None:
        return _by_rule(rule, arguments, cwd)
    name = _snake(tool)
    args = by_plain_name(arguments)
    if is_shell(tool):
        return _shell(args, text, arguments, cwd)
    if name == "apply_patch" or (BEGIN in text and "patch" in name):
        return Ask(tuple(patch_targets(_patch_text(arguments, text), cwd)), rule="a patch", shell=True)
    found = file_ask(name, args, cwd)
    if found is None:
        found = page_ask(name, dict(args)) or record_ask(name, arguments)
    return found or Ask()


_snake = lru_cache(maxsize=512)(snake)


def _patch_text(arguments: Any, text: str) -> str:
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, dict):
        return next((v for v in arguments.values() if isinstance(v, str) and BEGIN in v), text)
    return text


def is_shell(tool: str) -> bool:
    return _snake(tool) in _SHELLS


def commands_of(tool: str, text: str) -> list[str]:
    """The command lines, or the patch, that a call of a shell runs; none for any other tool. `text`: its arguments."""
    if not is_shell(tool):
        return []
    arguments = parse(text)
    if isinstance(arguments, dict):
        line = _line(by_plain_name(arguments))
        return [line] if line else []
    return [_script_patch(text)] if BEGIN in text else _script_commands(text)


def _shell(args: Args, text: str, arguments: Any, cwd: str | None) -> Ask:
    folder = first_text(args, "workdir", "cwd", "workingdirectory", "directory", "dirpath")
    if folder:
        cwd = full_path(folder, cwd)
    if not isinstance(arguments, dict):
        return _script(text, cwd)
    line = _line(args)
    return Ask(rule="a command", shell=True) if line is None else shell_ask(line, cwd)


def _line(args: Args) -> str | None:
    """The command of a shell's call as one line, what a shell inside it is given without that."""
    command = next((args[name] for name in ("command", "cmd", "script", "commandline") if args.get(name)), None)
    if not isinstance(command, list):
        return command if isinstance(command, str) else None
    words = [w for w in command if isinstance(w, str)]
    if len(words) == 3 and words[1].endswith("c"):
        return words[2]
    if len(words) == 2 and words[0] == "apply_patch":
        return words[1]
    return " ".join(_quoted(w) for w in words)


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"[\w./=:@%+,-]+", word) else "'" + word.replace("'", "'\\''") + "'"


def _script(text: str, cwd: str | None) -> Ask:
    """Codex's script tool: a program that calls `exec_command` and `apply_patch`."""
    if BEGIN in text:
        return Ask(tuple(patch_targets(_script_patch(text), cwd)), rule="a patch", shell=True)
    folder = _SCRIPT_FOLDER.search(text)
    if folder:
        cwd = full_path(_string(folder[1]), cwd)
    asks = [shell_ask(command, cwd) for command in _script_commands(text)]
    if len(asks) == 1:
        return asks[0]
    found = {(t.key, t.effect): _shared(t) for ask in asks for t in ask.targets}
    return Ask(tuple(found.values()), rule="a command", silent=False, shell=True)


def _script_patch(text: str) -> str:
    return text if f"{BEGIN}\n" in text else text.replace("\\n", "\n").replace('\\"', '"')


def _script_commands(text: str) -> list[str]:
    return [command for command in map(_string, _SCRIPT_COMMAND.findall(text)) if command]


def _shared(target: Target) -> Target:
    """The same target in a result that shows more than it."""
    return replace(target, sole=False)


def _string(literal: str) -> str:
    try:
        value = orjson.loads(literal)
    except orjson.JSONDecodeError:
        return ""
    return value if isinstance(value, str) else ""


def _by_rule(rule: ToolRule, arguments: Any, cwd: str | None) -> Ask:
    """A person's rule; an event when an argument that the key needs is not there."""
    given = arguments if isinstance(arguments, dict) else {}
    if rule.effect == "event" or rule.key is None:
        return Ask(rule=f"a rule for {rule.tool}")
    values: dict[str, str] = {}
    for name in fields_of(rule.key):
        value = given.get(name)
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            return Ask(rule=f"a rule for {rule.tool}, without {name}")
        values[name] = str(value).strip()
    key: str | None = fill(rule.key, values)
    if key is not None and key.startswith("file:"):
        key = file_key(key[5:], cwd)
    if key is None:
        return Ask(rule=f"a rule for {rule.tool}")
    content = given.get(rule.content) if rule.content else None
    text = text_of(content) if isinstance(content, str) else None
    return Ask((Target(key, rule.effect, f"a rule for {rule.tool}", text=text, evidence="stated"),))
