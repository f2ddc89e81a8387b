"""Strict templates: texts in `configs/` with variables, all of which must be given."""

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks.configuration.errors import ConfigurationError
from tasks.configuration.loading import read_text
from tasks.warehouse.rows import content_sha

if TYPE_CHECKING:
    from jinja2 import Template


@lru_cache(256)
def _compile(content: str) -> "tuple[Template, frozenset[str]]":
    """Compile a template and find its variables, cached: judges render the same few texts."""
    from jinja2 import StrictUndefined, meta  # slow: commands that only look render nothing
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, trim_blocks=False, lstrip_blocks=False
    )
    names = meta.find_undeclared_variables(environment.parse(content))
    return environment.from_string(content.strip()), frozenset(names)


class StrictTemplate:
    """A Jinja template that must be given exactly the variables it uses.

    Args:
        path: the file, also for messages.
        text: the part of the file to use; by default all of it.
        provided: variables that it may use without being given them.

    Raises:
        ConfigurationError: no such file, or not a valid template.
    """

    def __init__(
        self, path: Path, text: str | None = None, provided: frozenset[str] = frozenset()
    ) -> None:
        from jinja2 import TemplateError

        content = read_text(path) if text is None else text
        self.sha = content_sha(content)
        self._path = path
        try:
            self._template, names = _compile(content)
        except TemplateError as error:
            raise ConfigurationError(f"{path}: not a valid template: {error}") from None
        self._names = names - provided

    def render(self, provided: dict[str, Any] | None = None, /, **values: Any) -> str:
        """Render the template.

        Raises:
            ConfigurationError: the template's variables are not those given.
        """
        from jinja2 import TemplateError

        if self._names != values.keys():
            raise ConfigurationError(
                f"{self._path}: uses {', '.join(sorted(self._names))}; this step provides "
                f"{', '.join(sorted(values))}. Use exactly these."
            )
        try:
            return self._template.render(values, **(provided or {}))
        except TemplateError as error:
            raise ConfigurationError(f"{self._path}: cannot be rendered: {error}") from None
