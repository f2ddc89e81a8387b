"""The pages of a site: rendered from their templates into its folder."""

from dataclasses import dataclass
from typing import Any

from tasks.site.content import SiteInfo
from tasks.site.environment import render_page
from tasks.site.folder import SiteFolder


@dataclass(frozen=True)
class SitePages:
    """Renders pages with the content that all of them share."""

    info: SiteInfo
    folder: SiteFolder

    def add(self, path: str, template: str | None = None, **content: Any) -> None:
        """Write a page to `path`, from the template of that name unless another is named.

        Raises:
            UnwritableSite: it cannot be written.
        """
        page = render_page(
            template or path, depth=path.count("/"), site=self.info, here=path, **content
        )
        self.folder.add(path, page)
