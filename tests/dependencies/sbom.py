"""Write the list of all that the image installs (a CycloneDX SBOM), from the locks: `make sbom`.

It lies in sbom.cdx.json, which the Dockerfile copies into the image; the image's label has its
sha256. The same locks give the same bytes: no time, no random number, no address of an index.
"""

import json
import re
import tomllib
from hashlib import sha256
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from tests.dependencies.locks import OF_THE_IMAGE, ROOT, read_pins

SBOM = ROOT / "sbom.cdx.json"
DOCKERFILE = ROOT / "Dockerfile"
PLATFORM = {
    "implementation_name": "cpython", "os_name": "posix", "platform_machine": "x86_64",
    "platform_python_implementation": "CPython", "platform_system": "Linux",
    "python_full_version": "3.11.14", "python_version": "3.11", "sys_platform": "linux",
}  # fmt: skip
"""The image's."""
LABEL = re.compile(r'(?<=sbom\.sha256=")[0-9a-f]*(?=")')


def render_sbom() -> str:
    """Render the list as JSON."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    pins = sorted(set(read_pins(OF_THE_IMAGE, PLATFORM)))
    identity = json.dumps([project["name"], project["version"], pins])
    bom = Bom(serial_number=uuid5(NAMESPACE_URL, identity))
    root = _make_component(project["name"], project["version"], ComponentType.APPLICATION)
    parts = [_make_component(*pin, ComponentType.LIBRARY) for pin in pins]
    bom.metadata.component = root
    bom.components.update(parts)
    bom.register_dependency(root, parts)
    written = json.loads(JsonV1Dot6(bom).output_as_string())
    del written["metadata"]["timestamp"]
    text = json.dumps(written, indent=1, sort_keys=True) + "\n"
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        raise ValueError(f"The list is no CycloneDX 1.6: {wrong}")
    return text


def label_image(dockerfile: str, sbom: str) -> str:
    """Return the Dockerfile with the list's sha256 in its label."""
    labelled, n = LABEL.subn(sha256(sbom.encode()).hexdigest(), dockerfile)
    assert n == 1, "the Dockerfile has one label sbom.sha256"
    return labelled


def _make_component(name: str, version: str, kind: ComponentType) -> Component:
    url = PackageURL("pypi", name=name, version=version)
    return Component(name=name, version=version, type=kind, purl=url, bom_ref=str(url))


def write(sbom: Path = SBOM, dockerfile: Path = DOCKERFILE) -> None:
    """Write the list, and its sha256 into the Dockerfile."""
    text = render_sbom()
    sbom.write_text(text, "utf-8")
    dockerfile.write_text(label_image(dockerfile.read_text("utf-8"), text), "utf-8")


if __name__ == "__main__":
    write()
