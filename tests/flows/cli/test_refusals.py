"""What cannot be done is said before anything starts: with what there is instead, in words."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.asked_runs import askable
from tests.flows.conftest import Evergreen
from tests.flows.llm_runs import KEY, URL, configured, write_configs
from tests.sample_edition import PART

REPORT = "sample_blogger/Mercury_(planet)"
ON_SAMPLE = [
    ("agents cost somebody --usd -1", 2, "Invalid value for '--usd'"),
    ("analyse --edition gone", 1, "There is no edition 'gone'."),
    ("analyse --judge nobody", 1, "no judge 'nobody'"),
    ("analyse --judge local", 1, "no figures of the judge 'local'"),
    ("analyse --protocol race", 1, "no figures of the protocol 'race'"),
    ("analyse --metric coverage_wikis", 1, "no metric 'coverage_wikis'"),
    ("analyse --only weather", 2, "Invalid value for '--only': 'weather' is not one of"),
    ("analyse --output /nowhere/at/all.csv", 2, "/nowhere/at/all.csv"),
    ("ask --agent openai_gpt_5_5", 1, "set the variable OPENAI_API_KEY"),
    ("ask --agent grok", 1, "evergreen import reports"),
    ("ask --agent nobody", 1, "no agent 'nobody'"),
    ("ask --agent lexical_baseline --assignment Nobody", 1, "has no assignment 'Nobody'"),
    ("assign --articles 3 --batch", 2, "--articles, --batch"),
    ("assign --protocol claim_discovery --judge offline --budget 1", 1, "cannot make questions"),
    ("assign --protocol claim_discovery --judge priceless --budget 1", 1, "has no price"),
    ("compare agents --agent nobody", 1, "compares no agent 'nobody'. Known: sample_blogger, "),
    ("compare agents --metric kpr", 1, "coverage_wiki, "),
    ("compare agents --judge nobody", 1, "no judge 'nobody'"),
    ("compare agents --protocol race", 1, "no figures of the protocol 'race'"),
    ("compare protocols --judge nobody", 1, "no judge 'nobody'"),
    ("compare protocols --judge gemini-3.8-flash", 1, "no scores by the judge 'gemini-3.8-flash'"),
    ("compare protocols --protocol race", 1, "no scores of 'race' by the judge 'offline'"),
    ("compare protocols --protocol gone.yaml", 1, "gone.yaml: there is no such file"),
    ("compare protocols --output /nowhere/at/all.csv", 2, "/nowhere/at/all.csv"),
    ("draft rubrics --judge offline --to drafts --budget 1", 1, "cannot draft rubrics"),
    ("draft rubrics --judge priceless --to drafts --budget 1", 1, "has no price"),
    ("evaluate --edition never", 1, "Known: sample"),
    ("evaluate --protocol magic", 1, "Known: claim_discovery, "),
    ("evaluate --judge oracle", 1, "Known: claude"),
    ("evaluate --agent nobody", 1, "Known: sample_blogger"),
    ("evaluate --judge priceless --budget 1", 1,
     "configs/prices.yaml has no price for test-model of nobody"),
    ("evaluate --judge offline --batch", 1, "offline calls no model"),
    ("evaluate --judge local --batch", 1, "batch_api: true"),
    ("evaluate --judge messages --batch", 1, "not asked in batches here. Run without --batch."),
    ("explain nobody/nothing", 1, "AGENT/ASSIGNMENT"),
    ("explain 0000000000", 1, "has no report '0000000000' and no agent of that name"),
    ("explain sample_bloger", 1, "Did you mean sample_blogger?"),
    (f"explain '{REPORT}' --claim 999", 1, "has no claim 999; its claims are 0 to"),
    (f"explain '{REPORT}' --edition never", 1, "There is no edition 'never'"),
    (f"explain '{REPORT}' --judge oracle", 1, "There is no judge 'oracle' in "),
    ("explain sample_blogger --open", 2, "name one report: AGENT/TITLE"),
    ("fetch --agent nobody", 1, "has no reports of 'nobody'. Known: sample_"),
    ("fetch --extractor nobody", 1, "no judge 'nobody'"),
    ("leaderboard --protocol race", 1, "no figures of the protocol 'race'. Known: wiki_fact"),
    ("leaderboard --judge gemni", 1, "no figures of the judge 'gemni'. Known: offline"),
    ("pages references --judge nobody", 1, "no judge 'nobody'"),
    ("pages show 'not a url'", 2, "no URL that a citation can have"),
    ("pages show example.org/x", 1, "not in the archive of sample (as https://ex"),
    ("pages counts --edition other", 1, "Known: sample"),
    ("publish --to sample --approve", 1, "sample holds files and no"),
    ("rejudge --judge offline", 1, "so there is nothing to compare"),
    ("rejudge --judge openai --report sample_blogger/Venus", 1,
     "has no report 'sample_blogger/Venus'"),
    ("rejudge --judge openai --agent sample_blogger --report sample_blogger/Venus", 2,
     "--report names its agent: omit --agent"),
    ("status --edition never", 1, "no edition 'never'"),
]  # fmt: skip
"""Words without `--edition sample`, exit code, what is said."""
BY_ITSELF = [
    ("backup", 2, "give --to FOLDER or --to NAME.tar"),
    ("backup --to b --keep 0", 2, "'--keep': Input should be greater than or equal to 1"),
    ("backup verify", 2, "Missing argument 'BACKUP'"),
    ("backup restore", 2, "Missing argument 'BACKUP'"),
    ("calls --output nowhere/calls.jsonl", 2, "Invalid value for --output: cannot write to"),
    ("compact --keep-days 0", 2, "'--keep-days': Input should be greater than or equal to 1"),
    ("dance", 2, "No such command"),
    ("doctor --format csv", 2, "'csv' is not one of 'table', 'json'"),
    ("edition show smaple", 1, "no edition 'smaple'. Did you mean sample?"),
    ("edition show sample", 1, "sample was imported, not collected from a wiki"),
    ("edition verify sample", 1, "evergreen status --edition sample"),
    ("explain", 2, "Missing argument 'AGENT/TITLE'"),
    ("import wlc /nowhere/at/all", 1, "/nowhere/at/all does not exist"),
    ("import wlc sample --agent nobody", 1, "Known: sample_blogger, "),
    ("leaderboard --edition x --format pdf", 2, "'pdf' is not one of 'table', 'json', 'csv'"),
    ("publish --edition sample", 2, "Missing option '--to'"),
    (
        "publish --edition sample --to site --approve --approval-hours 0",
        2,
        "'--approval-hours': It must be more than 0",
    ),
    ("publish --edition never --to site", 1, "no edition 'never'"),
    ("publish --edition sample --judge gpt-5 --to site", 1, "no figures of the judge 'gpt-5'"),
    ("rejudge --edition sample", 2, "Missing option '--judge'"),
    ("serve --only dance", 2, "'dance' is none of ask, backfill, "),
]
"""The same, as they are typed."""


@pytest.fixture(scope="module")
def folder(sample: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Holds the warehouse, and judges that nobody answers for."""
    made = tmp_path_factory.mktemp("refused")
    askable(sample, made)
    shutil.copytree(PART, made / "sample")
    with configured(write_configs(made)), pytest.MonkeyPatch.context() as patch:
        patch.setenv(URL, "http://127.0.0.1:9/v1")
        patch.setenv(KEY, "test-key")
        patch.delenv("OPENAI_API_KEY", raising=False)
        yield made


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [*((f"{words} --edition sample" if "--edition" not in words else words, code, said)
       for words, code, said in ON_SAMPLE), *BY_ITSELF],
)  # fmt: skip
def test_it_is_refused_and_nothing_is_made(
    words: str, code: int, said: str, folder: Path, evergreen: Evergreen,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    monkeypatch.setenv("EVERGREEN_WAREHOUSE", "warehouse.duckdb")
    found, _, remarks = evergreen(*shlex.split(words))
    told = " ".join(remarks.replace("│", " ").split())
    assert (found, said in told) == (code, True), told
    assert "Traceback" not in told
    assert not {"b", "drafts", "nowhere", "site"} & {path.name for path in folder.iterdir()}
