"""Where configurations are looked for: in the folders of EVERGREEN_CONFIGS, in `configs` of the
working folder, and among those that come with Evergreen."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tasks.configuration.errors import ConfigurationError

CONFIGS_VARIABLE = "EVERGREEN_CONFIGS"
"""Names folders, separated as in PATH, that come before all others."""
OWN_FOLDER = "configs"
"""A project's own folder, in the working folder."""


def find_packaged(name: str) -> Path:
    """Return the folder of files that come with Evergreen: `configs` or `sample`.

    In a checkout these are `configs` and `data/sample`.
    """
    spec = find_spec(f"evergreen.{name}")
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(
            f"Evergreen is not installed completely: its files `{name}` are missing. "
            "Reinstall evergreen-bench."
        )
    return Path(next(iter(spec.submodule_search_locations)))


PACKAGED = find_packaged("configs")


@dataclass(frozen=True)
class ConfigFolders:
    """Folders of configurations. A file of one comes before the same file of those after it."""

    named: tuple[Path, ...]
    """The folders of EVERGREEN_CONFIGS, which must exist."""
    others: tuple[Path, ...]

    @property
    def all(self) -> tuple[Path, ...]:
        """Every folder, in order.

        Raises:
            ConfigurationError: a named one does not exist.
        """
        for folder in self.named:
            if not folder.is_dir():
                raise ConfigurationError(
                    f"{CONFIGS_VARIABLE}: there is no folder {folder}. Correct or unset it."
                )
        return (*self.named, *self.others)

    def render(self) -> str:
        """Render the folders that do not come with Evergreen, for EVERGREEN_CONFIGS of a process
        that starts in another folder."""
        return os.pathsep.join(str(each) for each in self.all if each != PACKAGED)


ConfigSource = ConfigFolders | Path
"""Where a loader looks: in several folders, or in one alone."""


def find_folders(variable: str | None, working_folder: Path) -> ConfigFolders:
    """Return the folders to look in.

    variable: the value of EVERGREEN_CONFIGS.
    """
    named = dict.fromkeys(
        Path(each).expanduser().absolute() for each in (variable or "").split(os.pathsep) if each
    )
    own = working_folder.absolute() / OWN_FOLDER
    found = (own, PACKAGED) if own.is_dir() and not own.samefile(PACKAGED) else (PACKAGED,)
    return ConfigFolders(tuple(named), tuple(each for each in found if each not in named))


CONFIGS = find_folders(os.environ.get(CONFIGS_VARIABLE), Path.cwd())
"""The folders of this process."""


def list_folders(configs: ConfigSource) -> tuple[Path, ...]:
    return (configs,) if isinstance(configs, Path) else configs.all


def find_all(name: str, configs: ConfigSource = CONFIGS) -> list[Path]:
    """Return the files of this name, the one that comes first before the others.

    name: relative to the folders, such as `prompts/fact/check_citations.md`; or an absolute path.

    Raises:
        ConfigurationError: there is none; names every place.
    """
    places = list(dict.fromkeys(folder / name for folder in list_folders(configs)))
    if found := [place for place in places if place.exists()]:
        return found
    where = "" if len(places) == 1 else f" Looked for: {', '.join(map(str, places))}."
    raise ConfigurationError(f"{places[0]}: there is no such file.{where}")


def find_file(name: str, configs: ConfigSource = CONFIGS) -> Path:
    """Return the file of this name that is in use; as `find_all`."""
    return find_all(name, configs)[0]


def list_files(
    folder: str, suffixes: Iterable[str], configs: ConfigSource = CONFIGS
) -> dict[str, Path]:
    """Return name → the file in use, of the files directly in a folder such as `protocols`."""
    ending = tuple(suffixes)
    found: dict[str, Path] = {}
    for above in list_folders(configs):
        for path in (above / folder).glob("*"):
            if path.suffix in ending:
                found.setdefault(path.name, path)
    return dict(sorted(found.items()))


def walk_files(suffixes: Iterable[str], configs: ConfigSource = CONFIGS) -> list[tuple[Path, Path]]:
    """Return (folder, file) of every file of every folder, sorted."""
    ending = tuple(suffixes)
    return [
        (folder, path)
        for folder in list_folders(configs)
        for path in sorted(folder.rglob("*"))
        if path.suffix in ending
    ]
