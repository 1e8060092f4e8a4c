"""Files to a trace in the store: the one place where loaders, the tokenizer and the store meet."""

from ctxview.ingest.cache import cache_folder, open_trace
from ctxview.ingest.inputs import ProgressCall
from ctxview.ingest.trace import Trace

__all__ = ["ProgressCall", "Trace", "cache_folder", "open_trace"]
