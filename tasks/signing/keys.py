"""Key pairs: made, and read for signing. A secret key never leaves its file and this process."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import minisign

from tasks.signing.signatures import PublicKey, UnusableKey

KEY_VARIABLE = "EVERGREEN_SIGNING_KEY"
"""Names the file of the secret key."""
PASSWORD_VARIABLE = "EVERGREEN_SIGNING_PASSWORD"
SECRET_NAME, PUBLIC_NAME = "evergreen.key", "evergreen.pub"
NOT_OURS = 0o077
"""Rights of anybody but the owner."""
LARGEST = 10_000
"""Bytes of the largest file that is read as a key."""


@dataclass(frozen=True)
class MadeKeys:
    """A key pair that was made."""

    secret: Path
    public: Path
    key_id: str


class Signer:
    """Signs bytes by a secret key."""

    def __init__(self, key: minisign.SecretKey) -> None:
        self._key = key
        self.key_id = _public_key(key).key_id

    def sign(self, data: bytes, name: str) -> bytes:
        """Return the content of `NAME.minisig`; its trusted comment says when and of which file."""
        ascii_name = name.encode("ascii", "replace").decode()
        comment = f"timestamp:{int(time.time())}\tfile:{ascii_name}\thashed"
        return bytes(self._key.sign(data, trusted_comment=comment)) + b"\n"


def make_keys(folder: Path, password: str | None) -> MadeKeys:
    """Make a key pair in a folder; only its owner may read the secret key.

    password: encrypts the secret key; None: it is stored as it is.

    Raises:
        UnusableKey: there is a key already, or the folder cannot be written to.
    """
    secret, public = folder / SECRET_NAME, folder / PUBLIC_NAME
    pair = minisign.KeyPair.generate()
    made = _public_key(pair.secret_key)
    if password is not None:
        pair.secret_key.encrypt(password)
    comment = f"untrusted comment: minisign public key {made.key_id}\n".encode()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in (secret, public):
            if os.path.lexists(path):
                raise UnusableKey(f"{path} exists. Name another folder: keys are not overwritten.")
        _write_new(secret, bytes(pair.secret_key) + b"\n", 0o600)
        _write_new(public, comment + pair.public_key.to_base64() + b"\n", 0o644)
    except OSError as error:
        raise UnusableKey(
            f"{folder}: the keys could not be written ({error.strerror or error}). Name another "
            "folder with --out."
        ) from error
    return MadeKeys(secret, public, made.key_id)


def is_encrypted(path: Path) -> bool:
    """Whether a secret key needs a password.

    Raises:
        UnusableKey: it cannot be used.
    """
    return bool(_read_secret_key(path).is_encrypted())


def load_signer(path: Path, password: str | None) -> Signer:
    """Load a secret key for signing.

    Raises:
        UnusableKey: the key cannot be used, or the password is missing or wrong.
    """
    key = _read_secret_key(path)
    if key.is_encrypted():
        if not password:
            raise UnusableKey(
                f"{path} is encrypted. Set its password in {PASSWORD_VARIABLE}, or run the command "
                "at a terminal, which asks for it."
            )
        try:
            key.decrypt(password)
        except minisign.Error:
            raise UnusableKey(
                f"{path}: the password is wrong. Correct {PASSWORD_VARIABLE}, or unset it to be "
                "asked at a terminal."
            ) from None
    return Signer(key)


def find_signer() -> Signer | None:
    """Load the secret key that the environment names; None if it names none.

    Raises:
        UnusableKey: it cannot be used.
    """
    named = os.environ.get(KEY_VARIABLE)
    return load_signer(Path(named), os.environ.get(PASSWORD_VARIABLE)) if named else None


def _read_secret_key(path: Path) -> minisign.SecretKey:
    try:
        with path.open("rb") as file:
            about = os.fstat(file.fileno())
            # As ssh: a file of somebody else's, such as a container's mounted secret, may be wider.
            if about.st_uid == os.getuid() and about.st_mode & NOT_OURS:
                raise UnusableKey(
                    f"{path}: others may read this secret key. Take that away: chmod 600 {path}"
                )
            return minisign.SecretKey.from_bytes(file.read(LARGEST))
    except OSError as error:
        raise UnusableKey(
            f"{path}: the secret key cannot be read ({error.strerror or error}). `evergreen keys "
            f"new` makes one; name its file with --sign or in {KEY_VARIABLE}."
        ) from error
    except minisign.Error:
        raise UnusableKey(
            f"{path} is not a secret key of minisign. `evergreen keys new` makes one."
        ) from None


def _public_key(key: minisign.SecretKey) -> PublicKey:
    return PublicKey(key.get_public_key())


def _write_new(path: Path, data: bytes, mode: int) -> None:
    """Write a file that does not exist yet, with its rights from the first moment."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(data)
