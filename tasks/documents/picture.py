"""Read a report that is a picture: kept for judges that see, without text recognition. Collect the
pictures in other files, each under a name that the text can use.

BMP and TIFF, which no judge's provider takes, also become PNG, a picture for each page of a TIFF.
"""

from io import BytesIO

from PIL import Image, ImageSequence, UnidentifiedImageError

from tasks.documents.document import (
    MAX_PAGES,
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    ParsedDocument,
    Picture,
    UnreadableDocument,
    UnreadablePage,
    detect_picture_type,
)

READER = "picture 1"
MAX_PIXELS = 100_000_000
"""A page scanned at 600 dpi has 35 million."""
MAX_PIXELS_OF_ALL = 500_000_000
"""For all pages of a TIFF: 57 pages at 300 dpi."""
CONVERTED = frozenset({"image/bmp", "image/tiff"})
"""Media types of which PNG is made."""
_PNG_MODES = frozenset({"1", "L", "LA", "P", "RGB", "RGBA", "I;16"})
"""Pillow's modes that are written as they are; others become RGB."""
_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg", "x-emf": "emf", "x-wmf": "wmf"}


def read(content: bytes) -> ParsedDocument:
    """Read a picture as a document without text, of one page or of a TIFF's pages."""
    media_type = detect_picture_type(content)
    if media_type is None:
        raise UnreadableDocument(
            "it is no PNG, JPEG, GIF, WebP, BMP or TIFF, whatever its name ends in. Export it "
            "afresh."
        )
    pictures: tuple[Picture, ...] = ()
    with _open(content, media_type) as image:
        if media_type in CONVERTED:
            pictures = _convert_pages(image)
        else:
            _check_pixels(image)
            image.load()
    n_pages = len(pictures) or 1
    return ParsedDocument(
        markdown="",
        media_type=media_type,
        reader=READER,
        n_pages=n_pages,
        pictures=pictures,
        unread_pages=tuple(
            UnreadablePage(number=number, reason="a picture", is_viewable=True)
            for number in range(1, n_pages + 1)
        ),
    )


def convert_picture(content: bytes) -> bytes | None:
    """Convert a BMP or the first page of a TIFF to PNG; None for others and unreadable ones."""
    media_type = detect_picture_type(content)
    if media_type not in CONVERTED:
        return None
    try:
        with _open(content, media_type) as image:
            return to_png(image)
    except MemoryError:
        raise
    except Exception:  # foreign input: every decoder has errors of its own
        return None  # the picture stays as it is


def _open(content: bytes, media_type: str) -> Image.Image:
    """Open a picture by the decoder of its type alone."""
    try:
        return Image.open(BytesIO(content), formats=[media_type.rpartition("/")[2].upper()])
    except UnidentifiedImageError:
        raise UnreadableDocument(
            "it begins like a picture, and goes on as none. Export it afresh."
        ) from None


def _check_pixels(image: Image.Image) -> int:
    width, height = image.size
    if width * height > MAX_PIXELS:
        raise UnreadableDocument(
            f"the picture has {width:,} by {height:,} pixels; at most {MAX_PIXELS:,} in all "
            "are read. Make it smaller."
        )
    return width * height


def _convert_pages(image: Image.Image) -> tuple[Picture, ...]:
    """Convert each page to PNG, up to the limits of pages, pixels and bytes."""
    pictures: list[Picture] = []
    n_pixels = n_bytes = 0
    for number, page in enumerate(ImageSequence.Iterator(image), start=1):
        n_pixels += _check_pixels(page)
        if number > MAX_PAGES or n_pixels > MAX_PIXELS_OF_ALL:
            raise UnreadableDocument(
                f"it has more than {MAX_PAGES} pages, or more than {MAX_PIXELS_OF_ALL:,} pixels on "
                "all of them. Export the report alone, in a smaller resolution."
            )
        content = to_png(page)
        n_bytes += len(content)
        if n_bytes > MAX_PICTURE_BYTES:
            raise UnreadableDocument(
                f"its pages have more than {MAX_PICTURE_BYTES:,} bytes as PNG. Export it in a "
                "smaller resolution."
            )
        name = f"page-{number}.png"
        pictures.append(Picture(name=name, media_type="image/png", content=content))
    return tuple(pictures)


def to_png(page: Image.Image) -> bytes:
    """Convert a picture to PNG, without its metadata."""
    _check_pixels(page)
    page.load()
    shown = page if page.mode in _PNG_MODES else page.convert("RGB")
    file = BytesIO()
    shown.save(file, "PNG")
    return file.getvalue()


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
