"""The names under which captures are read, and of the files of one of them: all that recognising them needs."""

from __future__ import annotations

import re
from typing import Final

ANTHROPIC: Final = "anthropic-requests"
OPENAI: Final = "openai-requests"
LITELLM: Final = "litellm"
CALL_STAMP: Final = re.compile(r"-\d{10}\.\d{1,6}(-[0-9a-f]{1,32})?\.json\Z")
"""How the name of a LiteLLM log ends that holds one call."""
