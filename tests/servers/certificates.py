"""Certificates that a test's servers show, and its clients may be told to trust."""

import shutil
import ssl
import subprocess
from pathlib import Path

import pytest


def make_certificate(folder: Path, name: str) -> ssl.SSLContext:
    """For a server of that name (`DNS:…` or `IP:…`); `folder/certificate.pem` is what to trust."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, to make a certificate")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=a test's server", "-addext", f"subjectAltName={name}",
         "-keyout", "key.pem", "-out", "certificate.pem"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context
