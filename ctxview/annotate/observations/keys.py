"""Names of resources: one name for one file, however a call spells its path.

It prevents `./conf.py` and `/repo/conf.py` from being two files. Paths are never looked up on this machine: a
trace may come from another one.
"""

from __future__ import annotations

import ntpath
import posixpath
from fnmatch import fnmatchcase
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from ctxview.annotate.patterns import lazy

_WINDOWS: Final = lazy(r"[A-Za-z]:[\\/]|\\\\")
_PORTS: Final = {"http": 80, "https": 443}


def is_windows(path: str) -> bool:
    return _WINDOWS.match(path) is not None


def full_path(path: str, cwd: str | None) -> str:
    """`path` against `cwd`, without `.`, `..` and doubled separators; as logged otherwise, so case stays."""
    if path.startswith("file://"):
        path = path[7:]
    if is_windows(path) or (cwd is not None and is_windows(cwd) and not path.startswith(("/", "~"))):
        joined = path if cwd is None or ntpath.isabs(path) or is_windows(path) else ntpath.join(cwd, path)
        return ntpath.normpath(joined)
    if cwd is not None and not path.startswith(("/", "~")):
        path = posixpath.join(cwd, path)
    normal = posixpath.normpath(path)
    return normal[1:] if normal.startswith("//") else normal


def file_key(path: str, cwd: str | None) -> str | None:
    """`file:PATH`; None when `path` cannot be one file's name."""
    path = path.strip()
    if not path or "\0" in path or "\n" in path or len(path) > 4096:
        return None
    return f"file:{full_path(path, cwd)}"


def url_key(url: str) -> str | None:
    """`url:URL` with the host in lower case and without fragment and default port; None when it is not http(s)."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        return None
    host = parts.hostname if port in (None, _PORTS[scheme]) else f"{parts.hostname}:{port}"
    return "url:" + urlunsplit((scheme, host, parts.path or "/", parts.query, ""))


def record_key(table: str, id_: str) -> str:
    return f"record:{table}:{id_}"


def type_of(key: str) -> str:
    """The part of a key that thresholds go by: `file`, `record`, `url`."""
    return key.partition(":")[0]


def is_under(key: str, folder: str) -> bool:
    """Whether a file's key lies in `folder`."""
    path = key.removeprefix("file:")
    return path == folder or path.startswith(folder.rstrip("/\\") + ("\\" if is_windows(folder) else "/"))


def is_named_by(key: str, pattern: str) -> bool:
    """Whether a shell would put `key` in the place of the key `pattern`: a `*` stays within one folder."""
    names, patterns = key.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))
