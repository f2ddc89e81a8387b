"""Extract the pictures in a PDF, in the order of its pages."""

from io import BytesIO

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image

from tasks.documents.picture import MAX_PIXELS, PictureCollector, to_png

MIN_SIDE = 32
"""Smaller pictures, in pixels, are bullets, lines and icons."""
MAX_PIXELS_DECODED = 200_000_000
"""For all pictures of a PDF; the rest is left out."""
MAX_CLEAR = 0.1
"""A picture with a larger share of pixels that let the page through has a mask; fewer are edges."""


def collect_pictures(content: bytes, collector: PictureCollector) -> tuple[str, ...]:
    """Add a PDF's pictures to the collector, each once; return remarks about the others."""
    seen: set[tuple[str, bytes]] = set()
    n_pixels = n_failed = 0
    with pypdfium2.PdfDocument(content) as document:
        kinds = [pdfium.FPDF_PAGEOBJ_IMAGE]
        images = (each for page in document for each in page.get_objects(filter=kinds))
        for image in images:
            try:
                width, height = image.get_px_size()
                if min(width, height) < MIN_SIDE:
                    continue
                n_pixels += width * height
                if width * height > MAX_PIXELS or n_pixels > MAX_PIXELS_DECODED:
                    n_failed += 1
                    continue
                found = _draw_changed(image) or _read_jpeg(image)
                if found is None:
                    found = "image/png", to_png(image.get_bitmap().to_pil())
            except MemoryError:
                raise
            except Exception:  # foreign input: the other pictures may be sound
                n_failed += 1
                continue
            if found not in seen:
                seen.add(found)
                collector.add(*found)
    if not n_failed:
        return ()
    return (f"{n_failed} of its pictures are left out: they are damaged or have too many pixels",)


def _draw_changed(image: pypdfium2.PdfImage) -> tuple[str, bytes] | None:
    """Draw a picture that the page shows through a mask, turned or mirrored; None for others.

    What is transparent becomes white, like paper: the colours below a mask are often black.
    """
    left, bottom, right, top = image.get_bounds()
    width, height = right - left, top - bottom
    scale = max(max(image.get_px_size()) / side for side in (width, height))
    if width * height * scale**2 > MAX_PIXELS:
        raise ValueError("too many pixels")
    drawn = image.get_bitmap(render=True).to_pil().convert("RGBA")
    n_clear = sum(drawn.getchannel("A").histogram()[:255])
    a, b, c, d, *_ = image.get_matrix().get()
    upright = a > 0 and d > 0 and b == c == 0
    if upright and n_clear <= MAX_CLEAR * drawn.width * drawn.height:
        return None
    white = Image.new("RGBA", drawn.size, "white")
    return "image/png", to_png(Image.alpha_composite(white, drawn).convert("RGB"))


def _read_jpeg(image: pypdfium2.PdfImage) -> tuple[str, bytes] | None:
    """Return a JPEG as it is in the PDF; None for other pictures, and for JPEGs in print colours,
    which not every reader shows right."""
    if image.get_filters(skip_simple=True) != ["DCTDecode"]:
        return None
    content = bytes(image.get_data(decode_simple=True))
    with Image.open(BytesIO(content), formats=["JPEG"]) as opened:
        opened.load()
        return ("image/jpeg", content) if opened.mode in {"L", "RGB"} else None
