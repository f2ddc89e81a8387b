"""`evergreen keys`: make a key pair to sign with, and verify what was signed."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.cli.options import FolderOption
from flows.cli.signing_options import PublicKeyOption
from flows.display.console import print_message, print_result
from tasks.backup.manifest import open_backup, verify
from tasks.backup.signature import check_signature
from tasks.base import format_count
from tasks.signing.keys import KEY_VARIABLE, PASSWORD_VARIABLE, make_keys
from tasks.signing.signatures import UnusableKey, load_public_key
from tasks.site.mark import MARK, verify_site


def new(
    to: FolderOption = Path("keys"),
    no_password: Annotated[
        bool,
        typer.Option(
            "--no-password",
            help="Store the secret key unencrypted: whoever reads its file can sign.",
        ),
    ] = False,
) -> None:
    """Make a key pair: evergreen.key, which signs, and evergreen.pub, which verifies.

    They have minisign's format. Keep evergreen.key secret, and give evergreen.pub to everybody.
    """
    made = make_keys(to, None if no_password else _ask_password())
    print_result(f"The key {made.key_id}: secret {made.secret}, public {made.public}.")
    print_message(f"Next: evergreen publish --sign {made.secret} …, or set {KEY_VARIABLE}.")


def verify_folder(
    where: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER", help="A site, a backup (also a file), or a folder of backups."
        ),
    ],
    public_key: PublicKeyOption = None,
) -> None:
    """Verify a signature, and every file against the signed list; exit code 1 if anything differs.

    Of a folder of backups, the newest is verified.
    """
    if public_key is None:
        raise typer.BadParameter("give -p KEY.pub.", param_hint="-p")
    key = load_public_key(public_key)
    if (where / MARK).is_file():
        signed_by, edition, n_files = verify_site(where, key)
        files = format_count(n_files, "file")
        print_result(f"{where}, a site of {edition}, is {signed_by}; {files} unchanged.")
        return
    with open_backup(where) as found:
        signed_by = check_signature(found, key)
        verify(found)
        made = f"{found.manifest.created_at:%Y-%m-%d %H:%M:%S} UTC"
        print_result(f"{found.place}, a backup of {made}, is {signed_by}; unchanged.")


def _ask_password() -> str:
    if password := os.environ.get(PASSWORD_VARIABLE):
        return password
    if not sys.stdin.isatty():
        raise UnusableKey(
            f"The secret key needs a password: set {PASSWORD_VARIABLE}, run this at a terminal, or "
            "give --no-password."
        )
    return str(
        typer.prompt(
            "Password of the secret key", hide_input=True, confirmation_prompt=True, err=True
        )
    )
