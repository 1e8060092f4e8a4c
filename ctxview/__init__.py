"""ctxview shows what an agent's context window held at every model call, and what it would have held."""

__version__ = "0.1.0"
