"""Collect the pictures in a file, each under a name that the text can use."""

from tasks.documents.document import MAX_PICTURE_BYTES, MAX_PICTURES, Picture
from tasks.documents.picture import convert_picture

_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg", "x-emf": "emf", "x-wmf": "wmf"}


class PictureCollector:
    """Collects the pictures of one file, up to the limits."""

    def __init__(self) -> None:
        self._kept: list[Picture] = []
        self._n_bytes = 0
        self._n_left_out = 0

    def add(self, media_type: str, content: bytes) -> str | None:
        """Add a picture and return its name; None if it is empty or exceeds the limits.

        BMP and TIFF become PNG, which judges can be shown.
        """
        if (png := convert_picture(content)) is not None:
            media_type, content = "image/png", png
        self._n_bytes += len(content)
        full = len(self._kept) >= MAX_PICTURES or self._n_bytes > MAX_PICTURE_BYTES
        if not content or full:
            self._n_left_out += 1
            return None
        kind = media_type.rpartition("/")[2]
        ending = _ENDINGS.get(kind, kind)
        number = len(self._kept) + self._n_left_out + 1
        name = f"image-{number}.{ending if ending.isalnum() and len(ending) < 6 else 'bin'}"
        self._kept.append(Picture(name=name, media_type=media_type, content=content))
        return name

    @property
    def pictures(self) -> tuple[Picture, ...]:
        return tuple(self._kept)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Messages about pictures that were left out."""
        if not self._n_left_out:
            return ()
        return (
            f"{self._n_left_out} of its pictures are left out: they are not in the file, or more "
            f"than {MAX_PICTURES} or {MAX_PICTURE_BYTES:,} bytes",
        )
