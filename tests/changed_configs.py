"""The project's configuration, copied and changed for a test."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
Edit = Callable[[dict[str, Any]], object]
"""Changes what a YAML file holds."""


def copy_configs(folder: Path, **edits: Edit) -> Path:
    """A copy in `folder`, of which each of `edits` changes the file that is called so."""
    target = folder / "configs"
    shutil.copytree(ROOT / "configs", target, dirs_exist_ok=True)
    for name, edit in edits.items():
        change(target / f"{name}.yaml", edit)
    return target


def change(file: Path, edit: Edit) -> None:
    settings = yaml.safe_load(file.read_text("utf-8"))
    edit(settings)
    file.write_text(yaml.safe_dump(settings, allow_unicode=True), "utf-8")


@contextmanager
def reading(configs: Path, *loaders: Callable[..., Any]) -> Iterator[None]:
    """This process and those it starts read `configs`.

    loaders: the functions that load files in this process; their last default is the folder.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERGREEN_CONFIGS", str(configs))
        for loader in loaders:
            before = loader.__defaults__ or ()
            patch.setattr(loader, "__defaults__", (*before[:-1], configs))
        yield
