"""`streamlit run app/main.py -- TRACE...`, and what `ctxview web` starts: finds the trace and draws the page."""

from __future__ import annotations

import streamlit as st

from ctxview.app.named import named_trace
from ctxview.app.sources import opened
from ctxview.app.window_page import window_page
from ctxview.errors import CtxviewError
from ctxview.text import one_line


def main() -> None:
    st.set_page_config(page_title="ctxview", page_icon="🪟", layout="wide")
    named = named_trace()
    if named is None:
        st.info("No trace was named. In a terminal, run:")
        st.code("ctxview web TRACE...", language=None)
        return
    try:
        trace = opened(named)
        if not trace.sessions:
            trace.resolve(None)
    except CtxviewError as error:
        st.error("The trace cannot be read.")
        st.text(one_line(error.cause, 500))
        st.text(one_line(error.fix, 500))
        return
    window_page(named)


main()
