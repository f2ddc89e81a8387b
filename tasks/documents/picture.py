"""Read a report that is a picture: kept for judges that see, without text recognition."""

from io import BytesIO

from PIL import Image, UnidentifiedImageError

from tasks.documents.document import ParsedDocument, UnreadableDocument, UnreadablePage
from tasks.documents.kinds import detect_picture_type

READER = "picture 1"
MAX_PIXELS = 100_000_000
"""A page scanned at 600 dpi has 35 million."""


def read(content: bytes) -> ParsedDocument:
    """Read a picture as a document of one page without text."""
    media_type = detect_picture_type(content)
    if media_type is None:
        raise UnreadableDocument(
            "it is no PNG, JPEG, GIF or WebP, whatever its name ends in. Export it afresh."
        )
    try:
        opened = Image.open(BytesIO(content))
    except UnidentifiedImageError:
        raise UnreadableDocument(
            "it begins like a picture, and goes on as none. Export it afresh."
        ) from None
    with opened as image:
        width, height = image.size
        if width * height > MAX_PIXELS:
            raise UnreadableDocument(
                f"the picture has {width:,} by {height:,} pixels; at most {MAX_PIXELS:,} in all "
                "are read. Make it smaller."
            )
        image.load()
    return ParsedDocument(
        markdown="",
        media_type=media_type,
        reader=READER,
        n_pages=1,
        unread_pages=(UnreadablePage(number=1, reason="a picture", is_viewable=True),),
    )
