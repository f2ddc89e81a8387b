"""Someone who looks for keys in what we publish."""

import asyncio
import json
import random
import string
import sys
from base64 import b64encode
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import polars as pl
import pytest

from tasks.configuration import secrets
from tasks.configuration.secrets import KeySettings
from tasks.masking import FORMS, MASK, name_form
from tasks.publishing.downloads import check_tables, write_data_files
from tasks.secrecy.guard import KeyGuard, LeakedKey, load_own_keys
from tasks.site.folder import SiteFolder
from tasks.site.mark import MARK
from tests.attacks.keys import ROOT

_RANDOM = random.Random(20261125)
LETTERS = string.ascii_letters + string.digits


def made(n: int, letters: str = LETTERS) -> str:
    return "".join(_RANDOM.choices(letters, k=n - 2)) + "7q"


OWN = made(24)
HEX = "0123456789abcdef"
OTHERS = {
    "OpenAI": f"sk-proj-{made(60)}-{made(40)}_{made(20)}",
    "OpenAI, old": f"sk-{made(48)}",
    "Anthropic": f"sk-ant-api03-{made(40)}-{made(50)}",
    "Google": f"AIza{made(35)}",
    "Google, new": f"AQ.{made(48)}",
    "xAI": f"xai-{made(80)}",
    "Perplexity": f"pplx-{made(48)}",
    "Jina": f"jina_{made(60)}",
    "GitHub": f"ghp_{made(36)}",
    "GitHub, fine-grained": f"github_pat_{made(22)}_{made(59)}",
    "GitLab": f"glpat-{made(20)}",
    "AWS": f"AKIA{made(14, string.ascii_uppercase + '234567').upper()}Q2",
    "Slack": f"xoxb-123456789012-1234567890123-{made(24)}",
    "Hugging Face": f"hf_{made(34)}",
    "Groq": f"gsk_{made(52)}",
    "Tavily": f"tvly-dev-{made(32)}",
    "Stripe": f"sk_live_{made(24)}",
    "DashScope": f"sk-{made(32, HEX)[:-2]}0f",
    "Prefect": f"pnu_{made(36)}",
    "Prefect, of a bot": f"pnb_{made(36)}",
    "PEM": f"-----BEGIN RSA PRIVATE KEY-----\n{made(64)}\n-----END RSA PRIVATE KEY-----",
    "PEM, encrypted": "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
    f"DEK-Info: AES-128-CBC,{made(32)}\n\n{made(64)}\n-----END RSA PRIVATE KEY-----",
    "PEM in JSON": f"-----BEGIN PRIVATE KEY-----\\n{made(64)}\\n-----END PRIVATE KEY-----",
    "SSH": f"-----BEGIN OPENSSH PRIVATE KEY-----\n{made(70)}\n-----END OPENSSH PRIVATE KEY-----",
}
HARMLESS = (
    "a task-oriented, risk-averse desk-1234567890123456789012345678",
    "https://example.org/sk-hynix-posts-record-profits-in-q3-2025-and-expects-more",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sk-00000000000000000000000000000000",
    "sk-DonaudampfschifffahrtsgesellschaftskapitaensWitwe",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "an OpenAI key begins with sk-proj-, a Google one with AIza, one of AWS with AKIA",
    "-----BEGIN PRIVATE KEY----- is how a PEM file begins",
    "untrusted comment: minisign encrypted secret key",
    "hf_transformers_library_for_natural_language_processing_in_2025",
    f"data:image/png;base64,{made(400)}",
    "https://s3.example.org/a?X-Amz-Credential=AKIAJM2Q4ZTR7WXK5VNA%2F20251101%2Fus-east-1",
    "xai-explainability-2025-survey and jina_embeddings_v3_model_for_retrieval_2025",
)


@pytest.fixture
def guard() -> KeyGuard:
    return KeyGuard(load_own_keys({"MY_SERVICE_API_KEY": OWN}))


def table(name: str, **columns: str) -> tuple[pl.DataFrame, str]:
    return pl.DataFrame({column: [value] for column, value in columns.items()}), name


WAYS = {
    "as it is": OWN,
    "after letters": f"abc{OWN}def",
    "in an address": quote(f"x={OWN}&"),
    "in base64": b64encode(OWN.encode()).decode(),
    "as a password": b64encode(f"me:{OWN}".encode()).decode(),
    "as another's password": b64encode(f"you:{OWN}\n".encode()).decode(),
    "behind a provider's prefix": f"sk-{OWN}",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("where", ["reports.text", "pages.text", "verdicts.evidence"])
def test_our_key_stops_everything(way: str, where: str, guard: KeyGuard) -> None:
    """The value of one of our keys stops the command wherever it is, also encoded."""
    name, column = where.split(".")
    text = f"So it says: {WAYS[way]}."
    with pytest.raises(LeakedKey, match=f"field {column}: it holds the value of MY_SERVICE_API"):
        guard.check_frame(*table(name, **{column: text}))
    with pytest.raises(LeakedKey):
        guard.mask(text, where)


@pytest.mark.parametrize(
    "secret", ['pass"word\\with <all>&', "geheim/ßchlüssel+1", "line one 1\nline two 2 of it"]
)
def test_a_key_is_found_however_it_is_escaped(secret: str) -> None:
    """A key with special characters is found in addresses, JSON and HTML."""
    guard = KeyGuard(load_own_keys({"A_TOKEN": secret}))
    escaped = secret.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    ways = (
        secret,
        quote(secret),
        quote(secret, safe="").lower(),
        json.dumps(secret),
        json.dumps(secret, ensure_ascii=False),
        escaped.replace('"', "&#34;"),
        escaped.replace('"', "&quot;"),
    )
    for written in ways:
        with pytest.raises(LeakedKey):
            guard.check(written, "a text")


VARIABLES = {
    "OPENAI_API_KEY": OWN,
    "EVERGREEN_SANDBOX_KEY": OWN,
    "HF_TOKEN": OWN,
    "GEMINI_API_KEY_2": OWN,
    "OPENAI_API_KEYS": f"{made(20)},{OWN}",
    "GITLAB_PAT": OWN,
    "SMTP_PASSWD": OWN,
    "HTTPS_PROXY": f"http://me:{OWN}@proxy:3128",
    "POSTGRES_PASSWORD": OWN,
    "PGPASSWORD": OWN,
    "CLIENT_SECRET": OWN,
    "PREFECT_API_AUTH_STRING": f"admin:{OWN}",
    "DATABASE": f"postgres://evergreen:{OWN}@db/evergreen",
    "EVERGREEN_WAREHOUSE": f"ducklake:postgres:host=db password={OWN} user=e?files=/srv",
    "NAMED_BY_CONFIGS": OWN,
}


@pytest.mark.parametrize("variable", VARIABLES)
def test_every_variable_with_a_key_is_known(variable: str, tmp_path: Path) -> None:
    """Variables count as keys if they are named like one, or if a configuration names them."""
    (tmp_path / "agents.yaml").write_text("a: {kind: http, key_env: NAMED_BY_CONFIGS}", "utf-8")
    guard = KeyGuard(load_own_keys({variable: VARIABLES[variable]}, tmp_path))
    with pytest.raises(LeakedKey, match=variable):
        guard.check(f"It is {OWN}.", "a text")


def test_the_environment_is_read_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard knows the keys of the environment without being told them."""
    monkeypatch.setenv("SOME_API_KEY", OWN)
    with pytest.raises(LeakedKey, match="SOME_API_KEY"):
        KeyGuard().check(OWN, "a text")


def test_a_key_from_a_block_of_prefect_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that came from a Prefect block, and not from the environment, counts as well."""

    class Block:
        @classmethod
        async def aload(cls, name: str) -> "Block":
            return cls()

        def get(self) -> str:
            return f"{OWN}\n"

    prefect = SimpleNamespace(Secret=Block)
    monkeypatch.setitem(sys.modules, "prefect.blocks.system", cast(Any, prefect))
    monkeypatch.setattr("tasks.configuration.secrets.KEYS_OF_BLOCKS", {})
    monkeypatch.setattr("tasks.secrecy.guard.KEYS_OF_BLOCKS", secrets.KEYS_OF_BLOCKS)
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    assert asyncio.run(KeySettings(key_block="my-key").load_key()) == OWN
    with pytest.raises(LeakedKey, match="the Prefect block my-key"):
        KeyGuard().check(OWN, "a text")


@pytest.mark.parametrize("whose", OTHERS)
@pytest.mark.parametrize(
    "around", ["{}", '{{"key": "\\n{}\\n"}}', "https://x.org/?key%3D{}", "({})"]
)
def test_what_looks_like_a_key_stops_a_report(whose: str, around: str, guard: KeyGuard) -> None:
    """What has the form of a provider's key stops the command in a report, and is not shown."""
    text = f"I found this: {around.format(OTHERS[whose])}"
    with pytest.raises(LeakedKey, match="field text: it holds what looks like a key") as raised:
        guard.check_frame(*table("reports", text=text))
    assert OTHERS[whose][10:] not in str(raised.value)


@pytest.mark.parametrize("whose", OTHERS)
def test_what_looks_like_a_key_is_masked_on_a_page(whose: str, guard: KeyGuard) -> None:
    """What has the form of a key in another's text is masked, counted, and then known."""
    text = f"before {OTHERS[whose]} after"
    frame = guard.check_frame(*table("pages", url="u", text=text))
    assert frame["text"].item() == f"before {MASK} after"
    assert guard.n_masked == 1
    assert guard.check(f"<p>{text}</p>", "pages/u.html") == f"<p>before {MASK} after</p>"


@pytest.mark.parametrize("kind", ["encrypted", "open"])
def test_a_secret_key_of_minisign_is_found(kind: str, guard: KeyGuard) -> None:
    """A secret key of minisign stops the command, with a password or without."""
    begin = b"Ed" + (b"Sc" if kind == "encrypted" else b"\0\0") + b"B2"
    secret = b64encode(begin + _RANDOM.randbytes(152)).decode()
    with pytest.raises(LeakedKey, match="minisign"):
        guard.check(f"untrusted comment: minisign secret key\n{secret}\n", "a report")
    public = b64encode(b"Ed" + _RANDOM.randbytes(40)).decode()
    assert guard.check(public, "a report") == public


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_and_hashes_are_no_keys(text: str, guard: KeyGuard) -> None:
    """Prose, addresses and sums pass unchanged, so that no author can stop a publication."""
    assert guard.check(text, "a report") == text


def test_a_key_next_to_what_is_none_is_found(guard: KeyGuard) -> None:
    """A key is found behind something that only resembles one."""
    with pytest.raises(LeakedKey):
        guard.check(f"task-sk-{made(48)}", "a report")
    with pytest.raises(LeakedKey):
        guard.check(f"desk-1-{OTHERS['OpenAI, old']}", "a report")


def test_the_message_names_the_row_and_hides_its_key(guard: KeyGuard) -> None:
    """A message names table, row and field, and masks a key in a row's name as well."""
    agent, url = OTHERS["Google"], f"https://example.org/?key={OWN}"
    with pytest.raises(LeakedKey) as raised:
        guard.check_frame(*table("citations", edition="e", agent=agent, url=url))
    said = str(raised.value)
    assert said.startswith(f"citations, row edition e, agent {MASK}, url https://example.org/?key=")
    assert agent not in said
    assert OWN not in said


class Source:
    """An edition with the same text in a field of each table."""

    def __init__(self, where: str, text: str) -> None:
        self.where, self.text = where, text

    def frame(self, sql: str, parameters: object = ()) -> pl.DataFrame:
        found, column = self.where.split(".")
        names = {"agent": "a", "cell_id": "c", column: self.text if f" {found} " in sql else "-"}
        if "collections" in sql:
            return pl.DataFrame({"manifest": []})
        return pl.DataFrame({name: [value] for name, value in names.items()})


def material(source: Source) -> Any:
    return cast(Any, SimpleNamespace(source=source, edition="e", judges=["j"], origin="wlc"))


def test_a_site_with_a_key_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A site whose tables hold a key is not written; the site of before stays."""
    monkeypatch.setenv("MY_API_KEY", OWN)
    site = tmp_path / "site"
    with SiteFolder(site) as folder:
        folder.add("index.html", "before")
        folder.finish({})
    for where in ("reports.text", "current_verdicts.reason", "scores.reason"):
        with (
            pytest.raises(LeakedKey, match=r"row (agent a|cell_id c)"),
            SiteFolder(site) as folder,
        ):
            check_tables(material(Source(where, f"key: {OWN}")), folder.guard)
    with pytest.raises(LeakedKey, match=r"method\.html"), SiteFolder(site) as folder:
        folder.add("method.html", f"<p>{OWN}</p>")
    assert (site / "index.html").read_text("utf-8") == "before"


def test_a_quoted_key_is_masked_in_all_files_and_counted(tmp_path: Path) -> None:
    """A key that a verdict quotes is masked in tables and pages, and counted in the manifest."""
    key = OTHERS["Google"]
    with SiteFolder(tmp_path / "site") as folder:
        source = material(Source("current_verdicts.evidence", f"It says {key}."))
        check_tables(source, folder.guard)
        folder.add("reports/r.html", f"<q>It says {key}.</q>")
        pages = SimpleNamespace(folder=folder, add=lambda *_, **__: None, info=None)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("tasks.publishing.downloads.render_page", lambda *_, **__: "card")
            write_data_files(source, cast(Any, pages))
        folder.finish({})
    written = tmp_path / "site"
    assert (written / "reports/r.html").read_text("utf-8") == f"<q>It says {MASK}.</q>"
    verdicts = pl.read_parquet(written / "data" / "verdicts.parquet")
    assert verdicts["evidence"].to_list() == [f"It says {MASK}."]
    assert json.loads((written / MARK).read_text("utf-8"))["masked_keys"] == 1


def test_every_form_has_its_example() -> None:
    """The list of forms covers the providers that the configurations name, each with a test."""
    tried = {name_form(example) for example in OTHERS.values()}
    assert tried | {"minisign"} == set(FORMS)
    configured = {"OpenAI", "Anthropic", "Google", "xAI", "Perplexity", "Jina"}
    assert configured <= set(FORMS)
    assert "DashScope" in " ".join(FORMS)


def test_no_key_lies_in_the_checkout() -> None:
    """The configuration and the sample hold nothing that looks like a key."""
    guard = KeyGuard({})
    for top in ("configs", "data/sample"):
        for path in (ROOT / top).rglob("*"):
            if path.suffix in {".yaml", ".md", ".json", ".csv", ".txt"}:
                guard.check(path.read_text("utf-8"), str(path))
