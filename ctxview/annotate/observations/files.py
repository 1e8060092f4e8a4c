"""File tools: which file a call reads or changes, and which lines of it.

Names are those of Claude Code, the `str_replace` editors (OpenHands, SWE-agent), Cursor, Copilot, Gemini, Cline, pi
and the MCP file server; the same words from an unknown server are taken to mean the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal

from ctxview.annotate.observations.ask import Args, Ask, Target, by_plain_name, first_text, names, whole_number
from ctxview.annotate.observations.keys import file_key
from ctxview.annotate.observations.seen import END, Spans, text_of

_READS: Final = names(
    """
    read read_file read_text_file view view_file open open_file cat get_file_contents notebook_read
    read_notebook read_media_file show_file fs_read read_file_content get_file_content
    """
)
_READ_LISTS: Final = names("read_files read_multiple_files read_many_files")
"""Tools that read several files at once, each with its own lines (Cline)."""
_WRITES: Final = names(
    """
    write write_file create_file create write_to_file save_file file_write fs_write write_text_file
    """
)
_EDITS: Final = names(
    """
    edit edit_file multi_edit multi_edit_file str_replace str_replace_edit string_replace replace
    replace_in_file replace_string_in_file multi_replace_string_in_file apply_diff insert insert_content
    insert_text insert_edit_into_file append append_file append_to_file notebook_edit edit_notebook
    edit_notebook_file edit_notebook_cell search_replace search_and_replace patch_file update_file modify_file
    undo_edit delete_file remove_file delete
    """
)
_MOVES: Final = names("move_file rename_file copy_file")
_EDITORS: Final = names(
    """
    str_replace_editor str_replace_based_edit_tool str_replace_editor_tool text_editor file_editor oh_editor
    edit_anthropic memory editor
    """
)
"""Tools whose `command` argument says what they do."""
_PATHS: Final = (
    "filepath", "path", "absolutepath", "targetfile", "filename", "file", "notebookpath", "relativepath", "targetpath",
    "uri",
)  # fmt: skip
_CONTENTS: Final = ("content", "contents", "filetext", "text", "codecontent", "code", "newcontent")
_LISTINGS: Final = names(
    """
    glob grep ls list list_dir list_directory list_files search_files search_file grep_search codebase_search
    file_search find_files find_by_name directory_tree web_search search tool_search find_file search_dir
    """
)


def file_ask(tool: str, args: Args, cwd: str | None) -> Ask | None:
    """The ask of a file tool; None when `tool`, in snake case, is none or names no file."""
    if tool in _LISTINGS:
        return Ask(rule="a listing or a search")
    if tool in _READ_LISTS:
        return _read_list(args, cwd)
    if tool in _EDITORS:
        return _editor(args, cwd)
    if tool in _MOVES:
        return _move(args, cwd)
    if tool not in _READS and tool not in _WRITES and tool not in _EDITS:
        return None
    path = first_text(args, *_PATHS)
    key = file_key(path, cwd) if path else None
    if key is None:
        return None
    if tool in _READS:
        return Ask((Target(key, "read", f"{tool} of a file", _asked(tool, args)),))
    return Ask((_change("write" if tool in _WRITES else "edit", key, args, f"{tool} of a file"),))


def _change(effect: Literal["write", "edit"], key: str, args: Args, rule: str) -> Target:
    content = first_text(args, *_CONTENTS) if effect == "write" else None
    text = text_of(content) if content is not None else None
    return Target(key, effect, rule, text=text)


def _asked(tool: str, args: Args) -> Spans:
    """The lines asked for. An offset counts from 1, as Claude Code's does; numbered results correct it."""
    view = args.get("viewrange")
    if isinstance(view, list) and len(view) == 2 and all(isinstance(n, int) for n in view):
        return ((max(1, view[0]), view[1] if view[1] >= view[0] else END),)
    if args.get("shouldreadentirefile") is True:
        return ()
    start = whole_number(args, "startline", "linestart", "startlineoneindexed", "startlinenumber", "start")
    end = whole_number(args, "endline", "lineend", "endlineoneindexedinclusive", "endlinenumber", "end")
    offset, limit = whole_number(args, "offset"), whole_number(args, "limit", "head", "lines", "maxlines")
    tail = whole_number(args, "tail")
    if tail is not None and tail > 0:
        return ((-tail, -1),)
    if start is not None or end is not None:
        first = max(1, start or 1)
        return ((first, end if end is not None and end >= first else END),)
    if offset is not None or limit is not None:
        first = max(1, offset or 1)
        return ((first, first + limit - 1 if limit is not None and limit > 0 else END),)
    return ()


def _read_list(args: Args, cwd: str | None) -> Ask | None:
    """Files by path, or by objects with a path and the lines asked for. Each file is read once."""
    rows = next((args[name] for name in ("files", "paths", "filepaths", "absolutepaths") if args.get(name)), None)
    targets: dict[str, Target] = {}
    for row in rows if isinstance(rows, list) else []:
        given = by_plain_name(row) if isinstance(row, dict) else {"path": row}
        path = first_text(given, *_PATHS)
        key = file_key(path, cwd) if path else None
        if key is not None:
            targets.setdefault(key, Target(key, "read", "one of the files read", _asked("read", given)))
    if not targets:
        return None
    alone = isinstance(rows, list) and len(rows) == 1
    return Ask(tuple(targets.values() if alone else (replace(t, sole=False) for t in targets.values())))


def _editor(args: Args, cwd: str | None) -> Ask | None:
    command, path = first_text(args, "command"), first_text(args, "path", "filepath")
    key = file_key(path, cwd) if path else None
    if key is not None and command is None and (new := first_text(args, "newtext")) is not None:
        if first_text(args, "oldtext") or whole_number(args, "insertline") is not None:
            return Ask((Target(key, "edit", "editor with a new text"),))
        return Ask((Target(key, "write", "editor with a new text", text=text_of(new)),))
    if key is None or command is None:
        return None
    rule = f"editor command {command}"
    if command == "view":
        return Ask((Target(key, "read", rule, _asked(command, args)),))
    if command == "create":
        return Ask((_change("write", key, args, rule),))
    if command in ("str_replace", "insert", "undo_edit", "delete", "append"):
        return Ask((Target(key, "edit", rule),))
    if command == "rename":
        return _move({"source": path, "destination": args.get("newpath")}, cwd)
    return None


def _move(args: Args, cwd: str | None) -> Ask | None:
    source = first_text(args, "source", "sourcepath", "oldpath", "from", "src")
    target = first_text(args, "destination", "destinationpath", "newpath", "to", "dst", "target")
    keys = [key for path in (source, target) if path and (key := file_key(path, cwd))]
    return Ask(tuple(Target(key, "edit", "a file moved or copied") for key in keys)) if keys else None
