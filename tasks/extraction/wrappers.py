"""Addresses that carry another one: redirects to it, and copies or translations of its page.

The table is our own, from the services' public link formats: a page's key must not change with
rules that are loaded at run time, as those of ClearURLs, the only kept collection, are; these know
neither mail protection nor archives. What carries no target (`vertexaisearch.cloud.google.com`,
shorteners, Mimecast, `baidu.com/link`) is known only by where fetching it leads.
"""

import re
from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator
from urllib.parse import parse_qsl, unquote, urlsplit

REST, BARE = "rest", "bare"
"""Where a target may stand besides query parameters: in the rest of the address; also without
scheme."""
_REDIRECTS = """
/url q url: google.*
/imgres imgrefurl: google.*
/amp/s/* bare: google.*
/ck/a u: bing.com
/alink/link url: bing.com
/l uddg: duckduckgo.com
/redir url: yandex.*
/v1/url u: urldefense.com urldefense.proofpoint.com
/wis/* url: trendmicro.com
/l.php u: facebook.com
/flx/warn u: facebook.com
/redir/redirect url: linkedin.com
/safety/go url: linkedin.com
/redirect url q z: linkedin.com youtube.com t.umblr.com flipboard.com getpocket.com
/away.php to: vk.com vk.ru
/dk st.link: ok.ru
/linkfilter url u: steamcommunity.com
/i/redirect url: x.com twitter.com
/link url target: slack-redir.net gitee.com
/r url: medium.com
/users/outgoing rest: deviantart.com
/jump.php rest url: pixiv.net
/cread.php ued p: awin1.com
/go-wild url: jianshu.com
/action/GoToLink url: oschina.net
/sinaurl u toasturl: weibo.cn weibo.com
/link2 url: douban.com
/mo/q/checkurl url: tieba.baidu.com
* a: linkprotect.cudasvc.com
* adurl: googleadservices.com doubleclick.net
* murl: click.linksynergy.com
* target: link.zhihu.com link.csdn.net link.juejin.cn
* t: link.jianshu.com
* url: safelinks.protection.outlook.com statics.teams.cdn.office.net mimecast.com out.reddit.com
* url: exit.sc disq.us go.skimresources.com go.redirectingat.com
* u: protection.sophos.com fireeye.com clicktime.symantec.com l.facebook.com lm.facebook.com
* u: l.messenger.com l.instagram.com l.threads.net l.threads.com l.wl.co redirect.viglink.com
* pfurl url: c.pc.qq.com
* rest: yahoo.* secure-web.cisco.com avanan.click awstrack.me outgoing.prod.mozaws.net
* rest: href.li anonym.to
"""
"""A path (`*`: whatever follows), the parameters that may hold the target, or where else it stands,
and the hosts (`.*`: in any country) with their subdomains."""
_COPIES = """
* bare url: archive.org archive.today archive.ph archive.is archive.li archive.vn archive.fo
* bare url: archive.md r.jina.ai txtify.it outline.com smry.ai removepaywall.com removepaywalls.com
* bare q: 12ft.io 1ft.io freedium.cfd freedium-mirror.cfd leiaisso.net pure.md defuddle.md
* bare q: markdown.new
* rest url: webarchive.org.uk archive-it.org webarchive.loc.gov webarchive.nationalarchives.gov.uk
* rest url: arquivo.pt timetravel.mementoweb.org turbopages.org z5h64q92x9.net corsproxy.io
* url: webcitation.org hghltd.yandex.net yandexwebcache.net printfriendly.com api.allorigins.win
* url: urltomarkdown.herokuapp.com translate.yandex.* papago.naver.net papago.naver.com
* q: webcache.googleusercontent.com
* u: translate.google.* translate.googleusercontent.com
* a: translatetheweb.com microsofttranslator.com
* query: fanyi.baidu.com
/c/s/* bare: cdn.ampproject.org
/v/s/* bare: cdn.ampproject.org
/iv url: t.me
/turbo text: yandex.*
"""
"""The same of copies: pages of their own, which bans look through."""
_COUNTRY = re.compile(r"(?<![\w-])(google|yandex|yahoo)\.[a-z]{2,3}(?:\.[a-z]{2})?$")
_SCHEME = re.compile(r"https?(?::|%3A)(?:/|(%2F)){1,3}", re.IGNORECASE)
_AS_FOLDER = re.compile(r"/(https?)/(?=[\w-]+\.)")
_NO_SCHEME = re.compile(
    r"(?:(?:web|save|wayback|newest|oldest|proxy)/)?(?:[\d*][\w*-]{0,30}/)?"
    r"((?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:[/?#].*)?)",
    re.IGNORECASE | re.DOTALL,
)
_ENCODED = re.compile(r"https?%(?:25){0,4}3A", re.IGNORECASE)
_BASE64 = re.compile(r"(?:a1)?(aHR0c[\w+/-]{6,4000})={0,2}")
_TRANSLATED = re.compile(r"(?:^|&)_x_tr_[^&]*")
_CACHED = re.compile(r"cache:(?:[\w-]{12}:)?(\S+)")
_PROOFPOINT = re.compile(r"/v3/__(https?:/.+?)__;([\w=-]*)!", re.IGNORECASE)
_REPLACED = re.compile(r"\*(?:\*([\w-]))?", re.ASCII)
_LENGTHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
MAX_LAYERS = 8
"""Of addresses within one another, from the outside."""

_Row = tuple[str, tuple[str, ...]]


def find_target(url: str, *, copies: bool = False) -> str | None:
    """Return the address that an address redirects to, if it carries that one; None if not.

    copies: also that of the page whose copy or translation it is.
    """
    try:
        parts = urlsplit(url)
        host = _COUNTRY.sub(r"\1.*", (parts.hostname or "").removesuffix("."))
    except ValueError:
        return None
    if found := _read_proofpoint(host, url):
        return _quote_spaces(found)
    if copies and host.endswith(".translate.goog"):
        name = host.removesuffix(".translate.goog").replace("-", ".").replace("..", "-")
        return f"https://{name}{parts.path}?{_TRANSLATED.sub('', parts.query)}"
    rest = url.partition("//")[2][len(parts.netloc) :]
    path = unquote(parts.path).rstrip("/")
    for table in (REDIRECTS, COPIES)[: 2 if copies else 1]:
        for known, names in _find_rows(table, host):
            if known in ("*", path):
                start = 1
            elif known.endswith("/*") and path.startswith(known[:-1]):
                start = len(known) - 1
            else:
                continue
            for found in _list_candidates(names, parts.query, rest[start:].lstrip("?")):
                return _quote_spaces(found)
    return None


def _parse_table(table: str) -> dict[str, list[_Row]]:
    rows: dict[str, list[_Row]] = {}
    for line in table.strip().splitlines():
        form, _, hosts = line.partition(": ")
        path, *names = form.split()
        for host in hosts.split():
            rows.setdefault(host, []).append((path, tuple(names)))
    return rows


REDIRECTS, COPIES = _parse_table(_REDIRECTS), _parse_table(_COPIES)


def _find_rows(table: dict[str, list[_Row]], host: str) -> Iterator[_Row]:
    """Yield the rows of a host and of those above it."""
    while host:
        yield from table.get(host, ())
        host = host.partition(".")[2]


def _list_candidates(names: tuple[str, ...], query: str, rest: str) -> Iterator[str]:
    values = dict(reversed(parse_qsl(query)))
    for name in names:
        if name in (REST, BARE):
            found = _find_in_rest(rest, bare=name == BARE)
        else:
            found = _read_value(values.get(name, ""))
        if found:
            yield found


def _find_in_rest(rest: str, *, bare: bool) -> str | None:
    if bare and (match := _NO_SCHEME.fullmatch(rest)):
        return f"https://{match[1]}"
    path = rest.partition("?")[0]
    if match := _SCHEME.search(path):
        if not match[1]:
            return rest[match.start() :].partition("___")[0]
        return unquote(re.split(r"[/?#]", rest[match.start() :], maxsplit=1)[0])
    if match := _AS_FOLDER.search(f"/{path}"):
        return f"{match[1]}://{f'/{rest}'[match.end() :]}"
    return None


def _read_value(value: str) -> str | None:
    """Return the address in a parameter's value, also encoded more than once."""
    if match := _CACHED.match(value):
        return match[1] if _SCHEME.match(match[1]) else f"https://{match[1]}"
    if match := _BASE64.fullmatch(value):
        try:
            value = urlsafe_b64decode(match[1].translate({43: 45, 47: 95}) + "==").decode()
        except (Base64Error, UnicodeDecodeError):
            return None
    for _ in range(MAX_LAYERS):
        if not _ENCODED.match(value):
            break
        value = unquote(value)
    if value.startswith("//"):
        return f"https:{value}"
    return value if _SCHEME.match(value) else None


def _read_proofpoint(host: str, url: str) -> str | None:
    """Return the target in versions 2 and 3 of URL Defense: one writes `-` for `%` and `_` for `/`,
    the other `*` for characters that follow in base64, and `**` with a letter for a run of them."""
    if not host.startswith("urldefense."):
        return None
    parts = urlsplit(url)
    if parts.path.startswith("/v2/"):
        value = dict(parse_qsl(parts.query)).get("u", "")
        return _read_value(unquote(value.translate({45: "%", 95: "/"})))
    if not (match := _PROOFPOINT.search(url)):
        return None
    try:
        characters = iter(urlsafe_b64decode(match[2].rstrip("=") + "==").decode())
    except (Base64Error, UnicodeDecodeError):
        return None

    def restore(found: re.Match[str]) -> str:
        n = _LENGTHS.index(found[1]) + 2 if found[1] else 1
        return "".join(next(characters, "") for _ in range(n))

    return _REPLACED.sub(restore, match[1])


def _quote_spaces(url: str) -> str:
    return re.sub(r"\s", "%20", re.sub(r"^(https?):/*", r"\1://", url.strip(), flags=re.IGNORECASE))
