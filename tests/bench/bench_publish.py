"""Time the publishing of an edition, and measure what readers load.

python -m tests.bench.bench_publish --warehouse FILE --edition 2025_Mar_Nov
"""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tasks.publishing.site import build_site
from tasks.site.wording import format_size
from tasks.warehouse.reader import open_for_reading


def main() -> int:
    """Read the command line, publish, print the figures."""
    parser = argparse.ArgumentParser(description="Publish an edition and print figures.")
    parser.add_argument("--warehouse", required=True, type=Path)
    parser.add_argument("--edition", required=True)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder, open_for_reading(asked.warehouse) as source:
        site = build_site(source, asked.edition, Path(folder) / "site")
    print(f"{site.seconds:.1f} s, {site.files:,} files, {format_size(site.bytes)}")
    print(f"first load {format_size(site.first_load_bytes)}")
    print(f"largest page {format_size(site.largest_page_bytes)} ({site.largest_page})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
