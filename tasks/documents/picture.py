"""Pictures of a report: kept for judges that see; no text is made of them."""

from io import BytesIO

from PIL import Image, UnidentifiedImageError

from tasks.documents.document import Document, UnreadableDocument, UnreadPage
from tasks.documents.kinds import picture_type

READER = "picture 1"
MAX_PIXELS = 100_000_000
"""A page scanned at 600 dots an inch has 35 million."""


def read(content: bytes) -> Document:
    """A picture as a document of one page without text."""
    media_type = picture_type(content)
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
    return Document(
        markdown="",
        media_type=media_type,
        reader=READER,
        n_pages=1,
        unread_pages=(UnreadPage(number=1, reason="a picture", to_be_seen=True),),
    )
