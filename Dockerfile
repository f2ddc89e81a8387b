# One image for the Prefect server, the worker and the sandbox: docker-compose.yml says which.
# `make rig-image` builds it and runs what docker-compose.yml starts.
FROM python:3.11.14-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /src
RUN python -m venv /opt/evergreen
ENV PATH=/opt/evergreen/bin:$PATH
# The locks before the code, which changes more often. As in the Makefile: they are complete.
COPY requirements.lock requirements-lake.lock requirements-sandbox.lock ./
# pip's settings, where a machine needs some (an index, certificates): secrets are in no layer.
RUN --mount=type=secret,id=pip.conf --mount=type=secret,id=certificates \
    PIP_CONFIG_FILE=/run/secrets/pip.conf pip install --require-hashes --no-deps \
    -r requirements.lock -r requirements-lake.lock -r requirements-sandbox.lock
COPY LICENSE README.md pyproject.toml ./
COPY evergreen evergreen
COPY flows flows
COPY tasks tasks
COPY configs configs
COPY data/sample data/sample
RUN pip install --no-deps --no-build-isolation . && pip check

FROM python:3.11.14-slim-bookworm
# A number, so that Kubernetes and the like see that it is not root.
RUN useradd --uid 10001 --user-group --create-home evergreen \
    && install -d -o evergreen -g evergreen /srv/evergreen /srv/evergreen/exports /srv/sandbox \
       /srv/evergreen/data /srv/evergreen/data/site
COPY --from=build /opt/evergreen /opt/evergreen
# What the image installs; `make sbom` writes both.
COPY sbom.cdx.json /opt/evergreen/sbom.cdx.json
LABEL evergreen.sbom="/opt/evergreen/sbom.cdx.json" evergreen.sbom.sha256="617b74834475e0315aa5d7bbe38a1acae00c31877ce188a8418b81fb1edac30e"
ENV PATH=/opt/evergreen/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    EVERGREEN_WAREHOUSE=/srv/evergreen/warehouse.duckdb \
    EVERGREEN_PREFECT_HOME=/srv/evergreen/prefect \
    PREFECT_RUNNER_SERVER_ENABLE=true
USER 10001:10001
WORKDIR /srv/evergreen
HEALTHCHECK --interval=30s --timeout=10s --start-period=180s --retries=4 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8080/health', timeout=8)"]
CMD ["evergreen", "serve"]
