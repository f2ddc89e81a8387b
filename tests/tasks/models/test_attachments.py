"""Files go with a question as they are, are part of what it is, and are counted in its price."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.attachments import (
    BYTES_PER_PAGE,
    MAX_ATTACHMENT_BYTES,
    PDF,
    Attachment,
    Medium,
    supported_media_types,
)
from tasks.models.batch_client import estimate_request_bytes, request_key
from tasks.models.errors import ModelError, RequestRejected
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose
from tasks.models.gemini_batch import GeminiBatchClient
from tasks.models.openai_batch import OpenAiBatchClient
from tasks.models.prices import BYTES_PER_TOKEN
from tasks.warehouse.contents import FileStore
from tasks.warehouse.errors import DamagedWarehouse
from tasks.warehouse.store import open_warehouse
from tests.servers.asked import File
from tests.servers.base import ModelServer
from tests.servers.faults import FaultPlan
from tests.servers.fences import parse
from tests.servers.gemini import GeminiServer
from tests.servers.openai import OpenAiServer
from tests.servers.test_servers import EVERY, ask
from tests.tasks.models.batching import Desk
from tests.tasks.models.scripted import question
from tests.tasks.models.test_prices import price

PAGES = b"%PDF-1.4 \xff\x00 scanned pages " * 50
PICTURE = b"\x89PNG\r\n\x1a\n a picture"


def kept(folder: Path, content: bytes, media_type: str = PDF, **more: int) -> Attachment:
    """A file in a store of its own."""
    sha = FileStore(folder).put(content)
    return Attachment(media_type=media_type, sha=sha, n_bytes=len(content), folder=folder, **more)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Attachment, ...]:
    return kept(tmp_path, PAGES, n_pages=3), kept(tmp_path, PICTURE, "image/png")


def with_files(request: ModelRequest, *files: Attachment) -> ModelRequest:
    fields = {name: getattr(request, name) for name in ModelRequest.model_fields}
    return ModelRequest(**fields | {"attachments": files})


def arrived(*files: Attachment) -> tuple[File, ...]:
    return tuple(File(file.media_type, file.sha, file.n_bytes) for file in files)


@EVERY
def test_files_arrive_byte_for_byte_before_the_text_between_lines_with_their_codes(
    kind: type[ModelServer], files: tuple[Attachment, ...]
) -> None:
    seen: list[str] = []

    class Model:
        def answer(self, system: str, user: str, schema: object) -> str:
            seen.append(user)
            return "yes"

    server = kind(model=Model())
    ask(server, with_files(question(), *files))
    assert server.log.entries[0].files == arrived(*files)
    read = parse(seen[0])
    assert [(block.name, block.text) for block in read.blocks] == [
        ("attachment_1", ""), ("attachment_2", ""),
    ]  # fmt: skip
    assert files[0].sha[:16] in seen[0]
    assert read.tail.strip() == "Is it so?"


@EVERY
def test_a_repaired_question_and_one_in_a_conversation_keep_their_files(
    kind: type[ModelServer], files: tuple[Attachment, ...]
) -> None:
    server = kind()
    ask(
        server,
        with_files(question(), *files).with_correction("perhaps", "it is neither yes nor no"),
    )
    assert server.log.entries[0].files == arrived(*files)


@pytest.mark.parametrize("server", [GeminiServer(key=None), OpenAiServer(key=None)])
def test_files_arrive_in_batches_too(
    server: GeminiServer | OpenAiServer, files: tuple[Attachment, ...], tmp_path: Path
) -> None:
    with open_warehouse(tmp_path / "w.duckdb") as warehouse:
        desk = Desk(warehouse)
        requests = [with_files(question("One?"), files[0]), question("Two?")]
        model = {"model": "some-model", "provider": "any"}
        desk.ask(server, [r.model_copy(update=model) for r in requests])
        said = {entry.files for entry in server.log.entries}
        assert said == {arrived(files[0]), ()}
        assert {entry.delivery for entry in server.log.entries} == {"batch"}


def test_the_address_of_a_question_covers_its_files_and_nothing_else_of_them(
    files: tuple[Attachment, ...], tmp_path: Path
) -> None:
    pdf, picture = files
    asked = [
        question(),
        with_files(question(), pdf),
        with_files(question(), picture),
        with_files(question(), pdf, picture),
        with_files(question(), picture, pdf),
        with_files(question(), pdf.model_copy(update={"media_type": "image/png"})),
    ]
    assert len({request.request_id for request in asked}) == len(asked)
    moved = pdf.model_copy(update={"folder": tmp_path / "elsewhere", "n_pages": None})
    assert with_files(question(), moved).request_id == asked[1].request_id
    assert [request_key(request) for request in asked] == [request.request_id for request in asked]


def test_a_question_without_files_has_the_address_under_which_it_was_bought() -> None:
    # The addresses are those of ledgers that exist: with others everything would be bought again.
    assert question().request_id == KNOWN
    assert question().model_copy(update={"attachments": ()}).prompt == "Is it so?"


KNOWN = "24a46efea8a65c7f84adf965483703607c0b14fe67155e3a998fa661595da22d"
PARTS = st.text(max_size=5) | st.sampled_from(["attachment", PDF, "ab" * 32, "user", "model"])


TURNS = st.lists(
    st.builds(Message, role=st.sampled_from(["user", "model"]), text=PARTS), min_size=1, max_size=4
)


@given(TURNS, TURNS)
def test_no_text_passes_for_a_file(turns: list[Message], others: list[Message]) -> None:
    def asked(turns: list[Message], *attachments: Attachment) -> str:
        return ModelRequest(
            provider="any", model="m", parameters=Parameters(max_output_tokens=1), reply_name="r",
            reply_schema="{}", system="s", messages=tuple(turns), attachments=attachments,
            purpose=Purpose(judge="", protocol="", step="", prompt_sha=""),
        ).request_id  # fmt: skip

    file = Attachment(media_type=PDF, sha="ab" * 32, n_bytes=1, folder=Path("x"))
    named = [Message(role="user", text=text) for text in ("attachment", PDF, file.sha)]
    assert asked(turns, file) not in (asked(others), asked(turns), asked(turns + named))
    assert (asked(turns, file) == asked(others, file)) == (turns == others)


def test_the_ledger_says_which_files_a_call_had(files: tuple[Attachment, ...]) -> None:
    pdf, picture = files
    said = with_files(question(), pdf, picture).prompt
    assert f"[application/pdf, 3 pages, {len(PAGES)} bytes, sha-256 {pdf.sha}]" in said
    assert f"[image/png, {len(PICTURE)} bytes, sha-256 {picture.sha}]" in said
    assert said.endswith("\n\nIs it so?")
    assert str(pdf.folder) not in repr(pdf) + said


def test_files_count_in_estimates_and_in_what_a_call_costs_at_most(
    files: tuple[Attachment, ...],
) -> None:
    plain, shown = question(), with_files(question(), *files)
    assert shown.prompt_bytes == plain.prompt_bytes + 4 * BYTES_PER_PAGE
    assert shown.text_bytes == plain.text_bytes == plain.prompt_bytes
    most = price().max_cost(shown) - price().max_cost(plain)
    rates = price().live
    assert most == pytest.approx(4 * BYTES_PER_PAGE * rates.dearest_input / 1_000_000)
    about = price().estimate_cost(shown) - price().estimate_cost(plain)
    assert about == pytest.approx(most / rates.dearest_input * rates.input / BYTES_PER_TOKEN)
    assert BYTES_PER_PAGE > 4_000, "more than a page takes at any provider"


def test_a_pdf_of_unknown_length_counts_by_its_size(tmp_path: Path) -> None:
    size = 900_000
    unknown = Attachment(media_type=PDF, sha="0", n_bytes=size, folder=tmp_path)
    assert unknown.equivalent_bytes == 46 * BYTES_PER_PAGE
    assert unknown.model_copy(update={"n_pages": 2}).equivalent_bytes == 2 * BYTES_PER_PAGE
    picture = unknown.model_copy(update={"media_type": "image/png"})
    assert picture.equivalent_bytes == BYTES_PER_PAGE


def test_a_server_that_counts_little_for_a_picture_has_not_cut_the_prompt(
    files: tuple[Attachment, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.servers.base.FILE_TOKENS", 1)
    (reply,) = ask(OpenAiServer(), with_files(question(), *files))
    assert not isinstance(reply, ModelError), reply


@EVERY
def test_a_file_that_is_gone_or_changed_is_never_sent(
    kind: type[ModelServer], files: tuple[Attachment, ...]
) -> None:
    server = kind()
    FileStore(files[0].folder).path(files[0].sha).write_bytes(b"another file")
    with pytest.raises(DamagedWarehouse, match="has changed since it was kept"):
        ask(server, with_files(question(), *files))
    FileStore(files[0].folder).path(files[0].sha).unlink()
    with pytest.raises(DamagedWarehouse, match="a report's file is missing"):
        ask(server, with_files(question(), *files))
    assert server.log.entries == []


def test_the_largest_file_there_may_be_fits_a_request_to_gemini(tmp_path: Path) -> None:
    largest = kept(tmp_path, bytes(MAX_ATTACHMENT_BYTES), n_pages=1)
    server = GeminiServer()
    (reply,) = ask(server, with_files(question(), largest), timeout=30)
    assert not isinstance(reply, ModelError), reply
    assert server.log.entries[0].files == arrived(largest)
    too_large = kept(tmp_path, bytes(16_000_000), n_pages=1)
    (refused,) = ask(server, with_files(question(), too_large), timeout=30)
    assert isinstance(refused, RequestRejected), "the server holds the limit"


@pytest.mark.parametrize("client", [GeminiBatchClient, OpenAiBatchClient])
def test_files_count_in_how_large_a_batch_becomes(
    client: type[GeminiBatchClient] | type[OpenAiBatchClient], tmp_path: Path
) -> None:
    file = kept(tmp_path, bytes(3_000), n_pages=1)
    more = estimate_request_bytes(with_files(question(), file)) - estimate_request_bytes(question())
    assert more == 4_000
    assert estimate_request_bytes(with_files(question(), file)) < client.max_job_bytes


@EVERY
def test_neither_a_file_nor_its_place_stands_in_an_error(
    kind: type[ModelServer], files: tuple[Attachment, ...]
) -> None:
    server = kind(faults=FaultPlan(("unavailable_503",)))
    (error,) = ask(server, with_files(question(), *files))
    assert isinstance(error, ModelError)
    assert "base64" not in str(error)
    assert str(files[0].folder) not in str(error)


@pytest.mark.parametrize(
    ("kind", "reads", "sees"),
    [
        ("gemini", ("image", "pdf"), {"application/pdf", "image/png", "image/heic"}),
        ("gemini", ("pdf",), {"application/pdf"}),
        ("openai_chat", ("image",), {"image/png", "image/gif"}),
        ("anthropic", ("image", "pdf"), {"application/pdf", "image/webp", "image/gif"}),
        ("openai_chat", (), set()),
    ],
)
def test_a_judge_sees_what_its_entry_says_in_the_forms_its_interface_takes(
    kind: str, reads: tuple[Medium, ...], sees: set[str]
) -> None:
    found = supported_media_types(kind, reads)
    assert sees <= found
    assert ("application/pdf" in found) == ("pdf" in reads)
    assert "image/tiff" not in found
    assert bool(found) == bool(reads)
