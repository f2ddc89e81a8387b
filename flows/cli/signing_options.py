"""The options that name keys: the secret one to sign with, the public one to verify by."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from tasks.signing.keys import KEY_VARIABLE, PASSWORD_VARIABLE, is_encrypted, load_signer

SignOption = Annotated[
    Path | None,
    typer.Option(
        "--sign",
        envvar=KEY_VARIABLE,
        metavar="KEY",
        help="Sign it by this secret key, the file that `evergreen keys new` makes.",
    ),
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "-p", "--public-key", metavar="KEY.pub", help="Refuse what this key has not signed."
    ),
]


def prepare_signing(key: Path | None) -> None:
    """Have `find_signer` find the key, in this process alone: a key is no parameter of a flow,
    which Prefect would store. At a terminal, ask for a password that is not set.

    Raises:
        UnusableKey: the key cannot be used.
    """
    if key is None:
        return
    os.environ[KEY_VARIABLE] = str(key)
    if is_encrypted(key) and not os.environ.get(PASSWORD_VARIABLE) and sys.stdin.isatty():
        os.environ[PASSWORD_VARIABLE] = typer.prompt(
            f"Password of {key}", hide_input=True, err=True
        )
    load_signer(key, os.environ.get(PASSWORD_VARIABLE))
