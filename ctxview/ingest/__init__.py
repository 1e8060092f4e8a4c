"""Files to a trace in the store: the one place where loaders, the tokenizer and the store meet."""

from ctxview.ingest.load import ProgressCall, open_trace
from ctxview.ingest.trace import Trace

__all__ = ["ProgressCall", "Trace", "open_trace"]
