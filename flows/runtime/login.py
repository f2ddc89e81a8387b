"""Who may use the local Prefect server: whoever can read its password file.

The password belongs to a Prefect home (`HOME/password`, mode 0600). Our own clients read it; a
browser is logged in by the address that `evergreen ui` prints.
"""

import secrets
from base64 import b64encode
from pathlib import Path

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from tasks.errors import ExpectedError
from tasks.files.opening import read_or_make

LOGIN_PATH = "/log-in"
PAGE = """<!doctype html><title>Log in</title><meta name="referrer" content="no-referrer">
<p>Logging in. Nothing happens? Open the address that <code>evergreen ui</code> prints.
<script>
if (location.hash.length > 1) {
  localStorage.setItem("prefect-password", location.hash.slice(1));
  location.replace("/");
}
</script>
"""
"""Keeps the password where Prefect's UI looks for it. It comes in the fragment of the address,
which a browser sends to nobody."""


class PasswordError(ExpectedError, RuntimeError):
    """The password file cannot be used; the message says what to do."""


def password_file(home: Path) -> Path:
    """The file with the authentication string (user:password) of a home's server."""
    return home / "password"


def read_password(home: Path) -> str:
    """Return the authentication string of a home's server; make one if there is none.

    Raises:
        PasswordError: other users can read or replace the file, or it is empty.
    """
    path = password_file(home)
    text, private = read_or_make(path, f"evergreen:{secrets.token_urlsafe(32)}")
    if not private:
        raise PasswordError(
            f"{path} can be read by others than you: end the runs that use it and delete it. "
            "The next run makes a new one."
        )
    if ":" not in text:
        raise PasswordError(f"{path} holds no password. Delete it; the next run makes a new one.")
    return text


def login_address(address: str, password: str) -> str:
    """Return the address that logs a browser in. address: the UI's, without a path."""
    return f"{address}{LOGIN_PATH}#{b64encode(password.encode()).decode()}"


class LoginPage:
    """ASGI middleware that answers the log-in address; all else goes on."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] == LOGIN_PATH:
            await HTMLResponse(PAGE)(scope, receive, send)
        else:
            await self._app(scope, receive, send)
