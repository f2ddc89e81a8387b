"""How fast cited pages are fetched: `python -m tests.bench.bench_fetching`.

    python -m tests.bench.bench_fetching [--pages 5000] [--hosts 200] [--large 20]

The pages lie on a server in a process of its own, on loopback, that answers after 100 ms; the
hosts are names that lead there. Two processes ask for all of them, one after the other: ours,
with guard, folder of pages and a callback for each page, all as configured; and aiohttp alone,
with as many requests at once, which reads the bodies and forgets them. The ideal is what the
configuration allows: the requests under way, or the host with the most pages. Nothing is
asserted.
"""

import argparse
import asyncio
import gzip
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from tasks.configuration.web import AllowedAddresses, WebSettings, load_web
from tasks.warehouse.contents import PageStore
from tasks.web.fetcher import open_fetcher
from tasks.web.page import FetchResult, PageRequest
from tests.servers.http import Request, Response
from tests.servers.serving import serving

DELAY_SECONDS = 0.1
LARGE_BYTES = 10_000_000
WORDS = (
    "page",
    "report",
    "cited",
    "river",
    "agent",
    "archive",
    "number",
    "stone",
    "claim",
    "north",
)
HOST = "127.0.0.1"


def page(number: int) -> bytes:
    """About 30 kB of text, each page another."""
    draw = random.Random(number)
    text = " ".join(draw.choices(WORDS, k=4_800))
    return f"<html><title>Page {number}</title><p>{text}</p></html>".encode()


def large_page() -> bytes:
    return (page(-1) * (LARGE_BYTES // 30_000 + 1))[:LARGE_BYTES]


def serve(said: "multiprocessing.Queue[str]") -> None:
    """Answer `/page/N` with one of a hundred pages, packed as servers do, and `/large/N`."""
    small = [gzip.compress(page(number), 6) for number in range(100)]
    large = large_page()
    packed = (("Content-Encoding", "gzip"),)

    def handler(request: Request) -> Response:
        number = int(request.target.rpartition("/")[2])
        if request.target.startswith("/large"):
            return Response(200, large, "text/html", delay_seconds=DELAY_SECONDS)
        body = small[number % len(small)]
        return Response(200, body, "text/html", packed, delay_seconds=DELAY_SECONDS)

    with serving(handler) as url:
        said.put(url)
        time.sleep(3600)


def addresses(port: int, n_pages: int, n_hosts: int, n_large: int) -> list[str]:
    places = [f"http://site{number}.bench.example.org:{port}" for number in range(n_hosts)]
    return [
        f"{places[number % n_hosts]}/{'large' if number % (n_pages // n_large) == 7 else 'page'}"
        f"/{number}"
        for number in range(n_pages)
    ]


def settings(urls: Sequence[str]) -> WebSettings:
    """As configured, but for the hosts of this benchmark."""
    hosts = tuple(sorted({urlsplit(url).netloc for url in urls}))
    return load_web().model_copy(update={"allowed": AllowedAddresses(hosts=hosts)})


def ours(urls: list[str], folder: str) -> dict[str, float]:
    done: list[FetchResult] = []

    async def keep(wanted: PageRequest, fetched: FetchResult) -> None:
        done.append(fetched)

    async def lookup(host: str, port: int) -> list[str]:
        return [HOST]

    async def run() -> None:
        store = PageStore(Path(folder))
        pages = [PageRequest(url=url, addresses=(url,)) for url in urls]
        async with open_fetcher(settings(urls), store, "direct", lookup) as fetcher:
            await fetcher.fetch_all(pages, keep)

    return measured(run, lambda: sum(one.outcome == "fetched" for one in done))


def plain(urls: list[str], folder: str) -> dict[str, float]:
    n_read = 0

    class Loopback(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
            return [ResolveResult(hostname=host, host=HOST, port=port, family=2, proto=0, flags=4)]

        async def close(self) -> None:
            return None

    async def run() -> None:
        nonlocal n_read
        places = asyncio.Semaphore(settings(urls).manners.at_once)
        connector = aiohttp.TCPConnector(limit=0, resolver=Loopback())
        async with aiohttp.ClientSession(connector=connector) as session:

            async def one(url: str) -> None:
                nonlocal n_read
                async with places, session.get(url) as response:
                    await response.read()
                    n_read += 1

            await asyncio.gather(*map(one, urls))

    return measured(run, lambda: n_read)


def measured(
    run: Callable[[], Coroutine[None, None, None]], n_done: Callable[[], int]
) -> dict[str, float]:
    """Seconds of the clock and of the processor, and the most memory this process ever held."""
    before = time.process_time()
    started = time.perf_counter()
    asyncio.run(run())
    return {
        "wall": time.perf_counter() - started,
        "processor": time.process_time() - before,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "pages": n_done(),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=5_000)
    parser.add_argument("--hosts", type=int, default=200)
    parser.add_argument("--large", type=int, default=20)
    asked = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    said = spawn.Queue()
    server = spawn.Process(target=serve, args=(said,), daemon=True)
    server.start()
    urls = addresses(urlsplit(said.get()).port or 0, asked.pages, asked.hosts, asked.large)
    manners = settings(urls).manners
    per_host = -(-asked.pages // asked.hosts)
    ideals = {
        "requests under way": asked.pages * DELAY_SECONDS / manners.at_once,
        "pages of one host": max(
            per_host * DELAY_SECONDS / manners.per_host,
            (per_host - 1) * manners.seconds_between + DELAY_SECONDS,
        ),
    }
    which, ideal = max(ideals.items(), key=lambda one: one[1])
    print(f"{asked.pages:,} pages on {asked.hosts} hosts, {asked.large} of them 10 MB; "
          f"{manners.at_once} at once, {manners.per_host} per host, "
          f"{manners.seconds_between} s between two")  # fmt: skip
    print(f"ideal {ideal:.1f} s ({which})")
    for name, run in (("ours", ours), ("aiohttp alone", plain)):
        with tempfile.TemporaryDirectory() as folder, spawn.Pool(1) as own:
            found = own.apply(run, (urls, folder))
        print(f"{name:14} {found['wall']:6.1f} s, {found['wall'] / ideal:.2f} of the ideal; "
              f"{found['processor'] / asked.pages * 1000:.2f} ms of processor a page; "
              f"{found['megabytes']:.0f} MB; {found['pages']:,} pages", flush=True)  # fmt: skip
    server.terminate()


if __name__ == "__main__":
    main()
