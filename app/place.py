"""The page's state: one `Focus` per browser tab. Controls show it and change it; the URL says it.

Controls get their value from the focus before they are drawn, and their callbacks change the focus, so there is never
a second opinion. A URL counts when the page opens and when a person changed it (back, forward, by hand); not when a
control acted in the same moment, since a browser may then still be one step behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import streamlit as st

from ctxview.app.address import read, write
from ctxview.focus import Focus
from ctxview.ingest import Trace

_FOCUS: Final = "focus"
_SAID: Final = "said"
_MOVED: Final = "moved"
_REMARKS: Final = "remarks"


def arrive(trace: Trace) -> Focus:
    """The focus at the start of a run of the whole page: from the URL where that is news, else as it was left."""
    url: Mapping[str, str] = st.query_params.to_dict()
    known: Focus | None = st.session_state.get(_FOCUS)
    if known is None or (not st.session_state.get(_MOVED) and url != st.session_state.get(_SAID)):
        arrival = read(url, trace)
        st.session_state[_FOCUS] = arrival.focus
        st.session_state[_REMARKS] = arrival.remarks
    st.session_state[_MOVED] = False
    return here()


def here() -> Focus:
    """Where the page is now."""
    focus: Focus = st.session_state[_FOCUS]
    return focus


def remarks() -> tuple[str, ...]:
    """What of the URL could not be followed. Unsafe text."""
    found: tuple[str, ...] = st.session_state.get(_REMARKS, ())
    return found


def move(**changes: Any) -> None:
    """Go somewhere else: for callbacks, so before the page is drawn."""
    st.session_state[_FOCUS] = replace(here(), **changes)
    st.session_state[_MOVED] = True
    st.session_state[_REMARKS] = ()


def publish() -> None:
    """Let the URL say where the page is."""
    said = write(here())
    st.session_state[_SAID] = said
    st.session_state[_MOVED] = False
    if st.query_params.to_dict() != said:
        st.query_params.from_dict(said)


def show_in(key: str, value: Any) -> str:
    """Give the control `key` its value before it is drawn; returns the key. Left alone where it has it already:
    writing it again would take a slider back that has moved on meanwhile."""
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value
    return key
