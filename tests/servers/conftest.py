"""Every client loads all certificate authorities when it is made: here one of them will do."""

from collections.abc import Iterator
from pathlib import Path

import certifi
import pytest

END = "-----END CERTIFICATE-----\n"


@pytest.fixture(scope="package", autouse=True)
def one_certificate_authority(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nothing here speaks TLS, and a hundred clients would spend 30 ms each on it, some thrice."""
    file = tmp_path_factory.mktemp("authorities") / "one.pem"
    file.write_text(Path(certifi.where()).read_text("utf-8").partition(END)[0] + END, "utf-8")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SSL_CERT_FILE", str(file))
        patched.setattr(certifi, "where", lambda: str(file))  # for those that read no variable
        yield
