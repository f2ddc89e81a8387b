"""Verify signatures by a public key."""

from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path

import minisign

from tasks.errors import ExpectedError
from tasks.foreign_text import make_visible

SUFFIX = ".minisig"
UNSIGNED = "none"
"""The `signature` of a manifest that nobody has signed; else it is the key's id."""
LARGEST = 20_000
"""Bytes of the largest file that is read as a public key or a signature."""


class UnusableKey(ExpectedError):
    """A key is missing, unsafe or not of minisign's format; the message never shows it."""


class BadSignature(ExpectedError):
    """Something is unsigned, signed by another key, or was changed after it was signed."""


class PublicKey:
    """A public key, with its id as minisign prints it."""

    def __init__(self, key: minisign.PublicKey) -> None:
        self._key = key
        self.key_id = _format_key_id(b64decode(key.to_base64()))

    def check(self, data: bytes, signature: bytes | None, where: object) -> "SignedBy":
        """Check that the data is as it was signed by this key.

        Args:
            signature: the content of the file beside it; None: there is none.
            where: the path of the data, for messages.

        Raises:
            BadSignature: it is not.
        """
        if signature is None:
            raise BadSignature(
                f"{where} has no signature ({SUFFIX}) beside it. Do not trust it, unless whoever "
                "made it says that it is not signed."
            )
        try:
            found = minisign.Signature.from_bytes(signature)
        except minisign.Error as error:
            raise BadSignature(
                f"{where}: its signature ({SUFFIX}) is not of minisign's format ({error}). Get "
                "both again from whoever signed."
            ) from None
        signed_by = _format_key_id(b64decode(bytes(found).splitlines()[1]))
        if signed_by != self.key_id:
            raise BadSignature(
                f"{where} is signed by the key {signed_by}, not by {self.key_id}. Do not trust it, "
                "unless you trust that key: then give its file with -p."
            )
        try:
            self._key.verify(data, found)
        except minisign.Error:
            raise BadSignature(
                f"{where} is not what the key {self.key_id} has signed: it or its signature was "
                "changed. Do not trust it; get it again."
            ) from None
        return SignedBy(
            self.key_id, make_visible(found.trusted_comment.replace("\t", " "), one_line=True)
        )


@dataclass(frozen=True)
class SignedBy:
    """Whose signature was verified."""

    key_id: str
    comment: str
    """The trusted comment, which is signed too."""

    def __str__(self) -> str:
        return f"signed by the key {self.key_id} ({self.comment})"


def load_public_key(path: Path) -> PublicKey:
    """Load a public key.

    Raises:
        UnusableKey: there is none.
    """
    try:
        with path.open("rb") as file:
            return PublicKey(minisign.PublicKey.from_bytes(file.read(LARGEST)))
    except OSError as error:
        raise UnusableKey(
            f"{path}: the public key cannot be read ({error.strerror or error}). Name the file "
            "that whoever signed has given you."
        ) from error
    except minisign.Error as error:
        raise UnusableKey(
            f"{path} is not a public key of minisign ({error}). Name the file that whoever signed "
            "has given you; it has two lines."
        ) from None


def describe_signature(signature: str) -> str:
    """Say in a line what a manifest says of its signature."""
    if signature == UNSIGNED:
        return f"Signature: {UNSIGNED}."
    return f"Signature: by the key {signature}."


def _format_key_id(decoded: bytes) -> str:
    """Format the id after the two bytes of the algorithm, as minisign does: a number, the lowest
    byte first."""
    return f"{int.from_bytes(decoded[2:10], 'little'):X}"
