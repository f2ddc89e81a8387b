"""Strict templates: a text of `configs/` with named places, all of which must be filled."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import StrictUndefined, Template, TemplateError, meta
from jinja2.sandbox import ImmutableSandboxedEnvironment

from tasks.configuration.errors import ConfigurationError
from tasks.warehouse.rows import content_sha

_ENVIRONMENT = ImmutableSandboxedEnvironment(
    undefined=StrictUndefined, autoescape=False, trim_blocks=False, lstrip_blocks=False
)


def read_text(path: Path) -> str:
    """A file of `configs/`.

    Raises:
        ConfigurationError: it is missing, or no UTF-8 text.
    """
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such prompt. Write it.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read as UTF-8 text ({error}).") from None


@lru_cache(256)
def _compiled(content: str) -> tuple[Template, frozenset[str]]:
    """A template, and the names it uses: every judge renders the same few dozen texts."""
    names = meta.find_undeclared_variables(_ENVIRONMENT.parse(content))
    return _ENVIRONMENT.from_string(content.strip()), frozenset(names)


class StrictTemplate:
    """A Jinja template that must be given exactly what it names.

    Args:
        path: the file, also for messages.
        text: what to use of it; all of it if not given.
        provided: names that it may use without being given them.

    Raises:
        ConfigurationError: no such file, or not a template.
    """

    def __init__(
        self, path: Path, text: str | None = None, provided: frozenset[str] = frozenset()
    ) -> None:
        content = read_text(path) if text is None else text
        self.sha = content_sha(content)
        self._path = path
        try:
            self._template, names = _compiled(content)
        except TemplateError as error:
            raise ConfigurationError(f"{path}: not a valid template: {error}") from None
        self._names = names - provided

    def render(self, provided: dict[str, Any] | None = None, /, **values: Any) -> str:
        """The text with every place filled.

        Raises:
            ConfigurationError: the template names something else than what it is given.
        """
        if self._names != values.keys():
            raise ConfigurationError(
                f"{self._path}: uses {', '.join(sorted(self._names))}; this step gives "
                f"{', '.join(sorted(values))}. Use all of these and nothing else."
            )
        try:
            return self._template.render(values, **(provided or {}))
        except TemplateError as error:
            raise ConfigurationError(f"{self._path}: cannot be filled: {error}") from None
