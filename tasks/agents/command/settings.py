"""The settings of agents that are programs on this machine."""

from typing import Literal, Self

from pydantic import Field, PositiveInt, model_validator

from tasks.agents.kind import Ask


class CommandAsk(Ask):
    kind: Literal["command"]
    """A program on this machine, with the prompt on stdin and the report on stdout or in a file."""
    command: tuple[str, ...] = Field(min_length=1)
    """Program and arguments; `{python}` is this project's interpreter."""
    output: str | None = None
    """The file with the report in its working folder; null: stdout."""
    environment: tuple[str, ...] = ()
    """The environment variables that it gets, including keys; no others are passed on."""
    reads: tuple[str, ...] = ()
    """The files and folders of its own code, which it may read; relative to the working folder."""
    network: Literal["none", "sandbox", "open"] = "none"
    """`sandbox`: our search server alone (EVERGREEN_SANDBOX). `open`: everything; boards say so."""
    isolation: Literal["sandbox", "none"] = "sandbox"
    """`none`: it may do all that you may, read your keys and files too; boards say so."""
    image: str | None = None
    """The image that the program runs in, where Docker or Podman runs containers; its `command` is
    a path there."""
    shared_cache: bool = False
    """Whether all its jobs share one EVERGREEN_CACHE; otherwise each has its own."""
    memory_mb: PositiveInt = 4096
    """Address space of each of its processes."""
    archive: bool | Literal["references"] = False
    """Whether it may read the edition's archived pages that no assignment bans
    (`EVERGREEN_ARCHIVE`); `references`: only those that the articles' references link to, which
    `evergreen refresh` fetches for it."""

    def describe_exposure(self) -> str | None:
        """Say what its program may reach, if that is more than usual."""
        if self.isolation == "none":
            return "its program is not isolated: it may read your keys and files"
        return "its program may reach the whole network" if self.network == "open" else None

    @model_validator(mode="after")
    def _check_isolation(self) -> Self:
        if self.isolation == "none" and self.network != "open":
            raise ValueError(
                "expected `network: open` beside `isolation: none`: nothing keeps such a program "
                "from the network."
            )
        if self.image and (self.reads or self.network == "sandbox" or self.isolation == "none"):
            raise ValueError(
                "expected neither `reads` nor `network: sandbox` nor `isolation: none` beside "
                "`image`: a container has its own files, and no way to our sandbox."
            )
        if "EVERGREEN_SANDBOX" in self.environment:
            raise ValueError(
                "expected `network: sandbox` instead of EVERGREEN_SANDBOX under `environment`."
            )
        return self
