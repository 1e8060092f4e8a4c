"""A window's history as spans, and every question a view may ask of it."""

from ctxview.window.diff import Diff, Prefix, diff_windows
from ctxview.window.journal import Journal
from ctxview.window.search import Hit, Hits, Needle
from ctxview.window.short_ids import short_ids
from ctxview.window.sizes import Tokens
from ctxview.window.view import Change, SessionView, WindowBlock

__all__ = [
    "Change",
    "Diff",
    "Hit",
    "Hits",
    "Journal",
    "Needle",
    "Prefix",
    "SessionView",
    "Tokens",
    "WindowBlock",
    "diff_windows",
    "short_ids",
]
