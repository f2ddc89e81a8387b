"""The parameters of commands and runs as the audit keeps them: as JSON, without secrets."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from tasks.masking import HIDDEN, SecretMask, hide_in_command, mask_environment, names_secret
from tasks.warehouse.rows import replace_surrogates

MAX_ITEMS = 100
"""Of a longer list the rest is counted."""


def format_parameters(given: Mapping[str, Any]) -> str:
    """Format parameters as JSON, keys sorted; those without a value are left out."""
    secrets = mask_environment()
    kept = {name: value for name, value in given.items() if value not in (None, [], ())}
    return json.dumps(_hide("", kept, secrets), sort_keys=True, ensure_ascii=False, default=str)


def _hide(name: str, value: Any, secrets: SecretMask) -> Any:
    if value is not None and not isinstance(value, bool) and names_secret(name):
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            _hide_in_text(str(key), secrets): _hide(str(key), each, secrets)
            for key, each in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        kept = [_hide(name, each, secrets) for each in list(value)[:MAX_ITEMS]]
        more = len(value) - len(kept)
        return [*kept, f"… and {more:,} more"] if more else kept
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | int | float):
        return value
    return _hide_in_text(str(value), secrets)


def _hide_in_text(text: str, secrets: SecretMask) -> str:
    return replace_surrogates(hide_in_command(text, secrets))
