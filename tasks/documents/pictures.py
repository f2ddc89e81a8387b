"""The pictures within a file: kept, each under a name that the text can call it by."""

from tasks.documents.document import MAX_PICTURE_BYTES, MAX_PICTURES, Picture

_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg", "x-emf": "emf", "x-wmf": "wmf"}


class Pictures:
    """Collects the pictures of one file, as long as there is room."""

    def __init__(self) -> None:
        self._kept: list[Picture] = []
        self._n_bytes = 0
        self._n_left_out = 0

    def keep(self, media_type: str, content: bytes) -> str | None:
        """Keep a picture; its name, or None where there is nothing to keep or no room."""
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
    def kept(self) -> tuple[Picture, ...]:
        return tuple(self._kept)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What became of pictures that are not kept, in words."""
        if not self._n_left_out:
            return ()
        return (
            f"{self._n_left_out} of its pictures are left out: they are not in the file, or more "
            f"than {MAX_PICTURES} or {MAX_PICTURE_BYTES:,} bytes",
        )
