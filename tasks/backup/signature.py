"""Verify the signature of a backup: of its manifest, which lists the sha-256 of the rest."""

from tasks.backup.manifest import MANIFEST, SIGNATURE, Backup
from tasks.signing.signatures import LARGEST, UNSIGNED, PublicKey, SignedBy, describe_signature


def check_signature(backup: Backup, key: PublicKey) -> SignedBy:
    """Return whose signature it is; the rest is for `verify`.

    Raises:
        BadSignature: the manifest is not as this key has signed it.
    """
    return key.check(backup.manifest_bytes, _read_signature(backup), backup.path_of(MANIFEST))


def describe_unchecked_signature(backup: Backup) -> str:
    """Say what a backup says of its signature, which nobody has verified."""
    said = describe_signature(backup.manifest.signature)
    if backup.manifest.signature != UNSIGNED:
        said = f"{said} Not verified: give its public key with -p."
        if _read_signature(backup) is None:
            said = f"{said} It is missing: somebody has taken it away."
    return said


def _read_signature(backup: Backup) -> bytes | None:
    if not backup.has(SIGNATURE):
        return None
    with backup.read(SIGNATURE) as file:
        return file.read(LARGEST)
