"""docker-compose.yml, .env.example and the Dockerfile, as far as they can be held without Docker.

tests/long/test_docker.py builds and starts them where Docker runs.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click.testing
import prefect.settings
import pytest
from typer.testing import CliRunner

from flows.runtime.shared_server import parse_arguments
from tasks.editions.refresh import load_refresh
from tests.compose_file import COMPOSE, ROOT, VARIABLE, Unset, compose, services

PASSWORDS = (
    "POSTGRES_PASSWORD",
    "PREFECT_SERVER_API_AUTH_STRING",
    "SERVER_DATABASE_PASSWORD",
    "WORKER_DATABASE_PASSWORD",
)
GIVEN = {name: f"secret of: {name}" for name in PASSWORDS}
"""What a person must write into `.env`."""
EXAMPLE = (ROOT / ".env.example").read_text("utf-8")
PINNED = re.compile(r"[a-z][a-z0-9-]*:v?\d+(\.\d+)+(-[a-z0-9.]+)*(@sha256:[0-9a-f]{64})?")
"""A name without a host, and an exact version, with its digest where it is known."""
SECRET = re.compile(r"PASSWORD|SECRET|TOKEN|(^|_)KEYS?(_|$)|AUTH")
OF_POSTGRES = {name for name in PASSWORDS if "DATABASE" in name or "POSTGRES" in name} | {
    "PGPASSWORD"
}
OF_PYTHON = {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED",
             "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_NO_CACHE_DIR"}  # fmt: skip
WRITTEN = services()
"""The services with their `${…}` as they stand."""
SERVICES = services(GIVEN)
OURS = [name for name, service in SERVICES.items() if "build" in service]


def schema_says(path: Path) -> tuple[int, str]:
    """The specification's schema comes with the package: nothing is fetched."""
    from check_jsonschema import main

    done = click.testing.CliRunner().invoke(
        main, ["--builtin-schema", "vendor.compose-spec", str(path)]
    )
    return done.exit_code, done.output


def test_it_is_as_the_compose_specification_says(tmp_path: Path) -> None:
    code, said = schema_says(COMPOSE)
    assert code == 0, said
    wrong = tmp_path / "docker-compose.yml"
    wrong.write_text(COMPOSE.read_text("utf-8").replace("depends_on:", "depends_upon:"), "utf-8")
    code, said = schema_says(wrong)
    assert code == 1
    assert "depends_upon" in said


def test_its_services_are_those_the_documentation_names() -> None:
    assert {*SERVICES} == {"postgres", "server", "worker", "sandbox", "site"}
    optional = {name: each["profiles"] for name, each in SERVICES.items() if "profiles" in each}
    assert optional == {"sandbox": ["sandbox"], "site": ["site"]}


@pytest.mark.parametrize(
    "image", ["caddy", "caddy:latest", "caddy:2", "example.org/caddy:2.10.2", "x/caddy:2.10.2"]
)
def test_anything_else_is_no_pinned_image(image: str) -> None:
    assert not PINNED.fullmatch(image)


def test_our_image_is_built_here_and_called_after_our_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert OURS == ["server", "worker", "sandbox"]
    for name in OURS:
        assert SERVICES[name]["image"] == f"{project['name']}:{project['version']}"
        assert SERVICES[name]["pull_policy"] == "build"  # a stranger may have taken the name


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_is_exact_says_whether_it_is_well_and_may_do_little(name: str) -> None:
    service = SERVICES[name]
    assert PINNED.fullmatch(WRITTEN[name]["image"]), WRITTEN[name]["image"]
    assert service["restart"] == "unless-stopped"
    check = service["healthcheck"]
    assert check["test"][0] == "CMD"
    assert {"interval", "timeout", "retries", "start_period"} <= set(check)
    assert not check.get("disable")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    # Caddy's program is marked with this one and cannot be started where it is out of reach.
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name == "site" else [])
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert "privileged" not in service
    if name not in OURS:  # the Dockerfile says it of ours
        assert service["user"].split(":")[0] not in ("", "0", "root")
    assert re.fullmatch(r"\d+[mg]", service["deploy"]["resources"]["limits"]["memory"])
    for port in service.get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port), port
    for other, how in service.get("depends_on", {}).items():
        assert other in SERVICES
        assert how == {"condition": "service_healthy"}
        assert "profiles" not in SERVICES[other]


def test_every_volume_and_network_is_there() -> None:
    whole = compose(GIVEN)
    named = set()
    for service in SERVICES.values():
        assert {*service.get("networks", [])} <= {*whole["networks"]}
        for volume in service.get("volumes", []):
            source, target, *_ = volume.split(":")
            assert target.startswith("/")
            if source.startswith("."):
                assert (ROOT / source).exists(), source
                assert volume.endswith(":ro"), volume
            else:
                named.add(source)
    assert named == {*whole["volumes"]}


def test_no_secret_has_a_value() -> None:
    for name, service in WRITTEN.items():
        for variable, value in service.get("environment", {}).items():
            if SECRET.search(variable):
                assert value is None or VARIABLE.fullmatch(value), f"{name}: {variable}"
    for found in VARIABLE.finditer(COMPOSE.read_text("utf-8")):
        if found["name"] and SECRET.search(found["name"]):
            assert found["how"] == ":?" or not found["word"], found[0]
    for path in (COMPOSE, ROOT / ".env.example", ROOT / "Dockerfile"):
        assert not re.search(r"://[^/\s$]*:[^/\s$]*@", path.read_text("utf-8"))


@pytest.mark.parametrize("name", PASSWORDS)
@pytest.mark.parametrize("empty", [True, False])
def test_nothing_starts_without_a_password(name: str, empty: bool) -> None:
    given = {**GIVEN, name: ""} if empty else {key: GIVEN[key] for key in PASSWORDS if key != name}
    with pytest.raises(Unset, match=name):
        services(given)


def asked_for() -> set[str]:
    """Every variable that Compose takes from `.env` or the shell."""
    text = re.sub(r"(?m)(^|\s)#.*$", "", COMPOSE.read_text("utf-8"))
    names = {found["name"] or found["bare"] for found in VARIABLE.finditer(text)}
    passed = {
        variable
        for service in WRITTEN.values()
        for variable, value in service.get("environment", {}).items()
        if value is None
    }
    return (names | passed) - {None}


def test_env_example_names_what_is_asked_for_and_no_more() -> None:
    named = re.findall(r"(?m)^#?([A-Z][A-Z0-9_]*)=(.*)$", EXAMPLE)
    assert {name for name, _ in named} == asked_for()
    assert len(named) == len({name for name, _ in named})
    assert [name for name, value in named if value] == []


def test_env_example_leaves_out_all_that_is_not_required() -> None:
    # Set to nothing is not the same as not set: Prefect would ask for an empty password.
    required = {
        found["name"]
        for found in VARIABLE.finditer(COMPOSE.read_text("utf-8"))
        if (found["how"] or "").endswith("?")
    }
    assert {*re.findall(r"(?m)^([A-Z][A-Z0-9_]*)=", EXAMPLE)} == required


def read_somewhere(variable: str) -> bool:
    """Whether something that runs in a container reads it."""
    if variable in OF_POSTGRES | OF_PYTHON | {"DO_NOT_TRACK"}:
        return True
    if variable.startswith("PREFECT_"):
        return is_setting(variable)
    return bool(re.search(rf"\b{variable}\b", CODE))


def is_setting(variable: str) -> bool:
    try:
        return getattr(prefect.settings, variable) is not None
    except (AttributeError, ImportError):
        return False


def text_of(folder: str, pattern: str) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((ROOT / folder).rglob(pattern)))


CONFIGS = re.sub(r"(?m)^\s*#.*$", "", text_of("configs", "*.yaml"))
CODE = text_of("deploy", "*.sh") + text_of("flows", "*.py") + text_of("tasks", "*.py") + CONFIGS


def test_every_variable_of_a_container_is_read_there() -> None:
    named = {
        *(variable for each in WRITTEN.values() for variable in each.get("environment", {})),
        *(pair.split("=")[0] for each in instructions("ENV") for pair in shlex.split(each.text)),
    }
    assert [each for each in sorted(named) if not read_somewhere(each)] == []
    assert not read_somewhere("EVERGREEN_WAREHOUSES")
    assert not read_somewhere("PREFECT_SERVER_UI_SHOW_ADVERTISEMENTS")


def test_the_worker_gets_every_key_and_address_that_the_configuration_names() -> None:
    named = {*re.findall(r"(?m)^\s*\w+_env:\s*(\w+)", CONFIGS)}
    assert {"GEMINI_API_KEY", "OPENAI_BASE_URL", "EVERGREEN_OPERATOR"} <= named
    assert sorted(named - {*WRITTEN["worker"]["environment"]}) == []


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_one_that_there_is(name: str) -> None:
    program, *arguments = SERVICES[name]["command"]
    assert parses(program, arguments)
    assert not parses(program, [*arguments, "--no-such-option"])


def parses(program: str, arguments: list[str]) -> bool:
    """Whether a command line is understood; it is not run."""
    if program == "evergreen":
        return understood(arguments)
    assert [program, *arguments[:3]] == ["python", "-P", "-m", "flows.runtime.shared_server"]
    try:
        parse_arguments(arguments[3:])
    except SystemExit:
        return False
    return True


def understood(arguments: list[str]) -> bool:
    """Asked for help the command does nothing, but an option that it does not have is an error."""
    from flows.cli.main import app

    return CliRunner().invoke(app, [*arguments, "--help"]).exit_code == 0


def test_servers_listen_where_their_ports_and_health_checks_are() -> None:
    for name in ("server", "sandbox", "site"):
        service = SERVICES[name]
        [published] = service["ports"]
        port = published.split(":")[-1]
        command = " ".join(service["command"])
        assert f"--port {port}" in command or f"--listen :{port}" in command
        assert port in " ".join(service["healthcheck"]["test"])
    assert SERVICES["server"]["environment"]["PREFECT_SERVER_UI_API_URL"].endswith(":4200/api")
    assert SERVICES["worker"]["environment"]["PREFECT_API_URL"] == "http://server:4200/api"


def test_nobody_is_told_anything() -> None:
    for name in OURS:
        settings = SERVICES[name]["environment"]
        assert settings["DO_NOT_TRACK"] == "1"
        assert settings["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"
    server = SERVICES["server"]["environment"]
    assert server["PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT"] == "false"
    assert server["PREFECT_SERVER_UI_V2_ENABLED"] == "false"


def test_scaled_workers_share_one_warehouse_that_several_may_write() -> None:
    where = SERVICES["worker"]["environment"]["EVERGREEN_WAREHOUSE"]
    assert where == "ducklake:postgres:host=postgres dbname=evergreen user=evergreen" \
        "?files=/srv/evergreen"  # fmt: skip
    assert "evergreen:/srv/evergreen" in SERVICES["worker"]["volumes"]
    assert "container_name" not in SERVICES["worker"]
    assert "ports" not in SERVICES["worker"]


class Instruction(NamedTuple):
    """One of the Dockerfile's, its continued lines joined."""

    word: str
    text: str
    stage: int


def dockerfile() -> Iterator[Instruction]:
    text = re.sub(r"(?m)^\s*#.*\n", "", (ROOT / "Dockerfile").read_text("utf-8"))
    stage = -1
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip():
            word, _, rest = line.strip().partition(" ")
            stage += word == "FROM"
            yield Instruction(word, " ".join(rest.split()), stage)


def instructions(word: str) -> list[Instruction]:
    return [each for each in dockerfile() if each.word == word]


FINAL = max(each.stage for each in dockerfile())


def test_the_image_is_built_of_one_exact_python_that_the_project_takes() -> None:
    bases = {each.text.split()[0] for each in instructions("FROM")}
    assert len(bases) == 1
    [base] = bases
    assert PINNED.fullmatch(base), base
    found = re.match(r"python:(\d+)\.(\d+)\.", base)
    assert found
    assert (int(found[1]), int(found[2])) >= (3, 11)


def test_what_the_image_copies_is_there_and_is_not_kept_from_docker() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert next(line for line in ignored if not line.startswith("#")) == "*"
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = set()
    for each in instructions("COPY"):
        *sources, _ = [part for part in each.text.split() if not part.startswith("--")]
        if "--from=" in each.text:
            assert each.stage == FINAL
            continue
        for source in sources:
            assert (ROOT / source).exists(), source
            copied.add(source)
    assert copied == kept
    assert not kept & {".", ".env", ".git", "data"}


def test_the_image_installs_only_what_the_lock_names_by_its_hash() -> None:
    installs = [
        part.strip()
        for each in instructions("RUN")
        for part in each.text.split("&&")
        if "pip install" in part
    ]
    assert len(installs) == 2
    locked, project = installs
    assert locked.endswith(
        "--require-hashes --no-deps -r requirements.lock -r requirements-lake.lock "
        "-r requirements-sandbox.lock"
    )
    assert project == "pip install --no-deps --no-build-isolation ."


def test_the_image_runs_as_somebody_without_rights() -> None:
    users = [each.text for each in instructions("USER") if each.stage == FINAL]
    assert len(users) == 1
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[0])
    user = users[0].split(":")[0]
    made = " ".join(each.text for each in instructions("RUN") if each.stage == FINAL)
    assert f"useradd --uid {user} " in made
    owned = re.search(r"install -d -o evergreen -g evergreen (.+)$", made)
    assert owned
    # A new named volume takes its owner from the folder it is mounted on.
    for name in OURS:
        for volume in SERVICES[name].get("volumes", []):
            source, target, *_ = volume.split(":")
            assert source.startswith(".") or target in owned[1].split()
    assert SERVICES["site"]["user"] == users[0]


def test_the_image_by_itself_is_the_worker() -> None:
    [command] = instructions("CMD")
    assert command.text == as_json(SERVICES["worker"]["command"])
    [health] = instructions("HEALTHCHECK")
    assert health.text.split(" CMD ")[1] == as_json(SERVICES["worker"]["healthcheck"]["test"][1:])
    served = prefect.settings.PREFECT_RUNNER_SERVER_PORT.value()
    assert f":{served}/health" in health.text
    assert any("PREFECT_RUNNER_SERVER_ENABLE=true" in each.text for each in instructions("ENV"))


def as_json(words: list[str]) -> str:
    return "[" + ", ".join(f'"{word}"' for word in words) + "]"


def test_a_site_is_written_where_the_configuration_says_and_served_from_there() -> None:
    [place] = [each.text for each in instructions("WORKDIR") if each.stage == FINAL]
    settings = load_refresh()
    assert settings.publish
    assert f"site:{place}/{settings.publish.to}" in SERVICES["worker"]["volumes"]
    [served] = SERVICES["site"]["volumes"]
    assert f"--root {served.removeprefix('site:').removesuffix(':ro')}" in " ".join(
        SERVICES["site"]["command"]
    )


def test_the_configuration_is_mounted_in_the_working_folder_where_it_comes_first() -> None:
    [place] = [each.text for each in instructions("WORKDIR") if each.stage == FINAL]
    for name in ("worker", "sandbox"):
        assert f"./configs:{place}/configs:ro" in SERVICES[name]["volumes"]


@pytest.mark.parametrize(
    ("extra", "needed"),
    [
        ("sandbox", {"lancedb", "mcp"}),
        ("lake", {"psycopg", "psycopg-binary", "duckdb-extension-ducklake"}),
    ],
)
def test_an_extras_lock_holds_what_it_needs_beyond_the_lock(extra: str, needed: set[str]) -> None:
    ours, more = pins("requirements.lock"), pins(f"requirements-{extra}.lock")
    assert needed <= {*more}
    assert {*ours} & {*more} == set()
    # The same versions as the tests are run with.
    assert more.items() <= pins("requirements-dev.lock").items()
    text = (ROOT / f"requirements-{extra}.lock").read_text("utf-8")
    assert "://" not in text
    assert text.count("--hash=sha256:") >= len(more)


def pins(lock: str) -> dict[str, str]:
    """Versions and markers by name; a name may stand there for several machines."""
    text = (ROOT / lock).read_text("utf-8")
    found = re.findall(r"(?m)^([a-z0-9][a-z0-9._-]*)==([^\n\\]+)", text)
    return {name: version.strip() for name, version in found}
