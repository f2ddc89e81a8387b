"""Addresses that carry another one: redirects to it, and copies or translations of its page.

The table is our own, from the services' public link formats: a page's key must not change with
rules that are loaded at run time, and ClearURLs', the only kept ones, know neither mail protection
nor archives. What carries no target (`vertexaisearch.cloud.google.com`, shorteners, Mimecast) is
known only by where fetching it leads.
"""

import re
from base64 import urlsafe_b64decode
from fnmatch import fnmatchcase
from itertools import islice
from string import ascii_lowercase, ascii_uppercase, digits
from urllib.parse import parse_qsl, unquote, urlsplit

REDIRECTS = """
/url /imgres /amp/*: google.*
/ck/a /alink/link: bing.com
/l: duckduckgo.com
/url /v[12]/url /v3/*: urldefense.com urldefense.us urldefense.proofpoint.com fireeye.com
/wis/*: trendmicro.com
/l.php: facebook.com messenger.com
/safety/go /redir*: linkedin.com
/redir*: youtube.com t.umblr.com flipboard.com getpocket.com
/away.php: vk.com vk.ru
/linkfilter: steamcommunity.com
/r: medium.com
/sinaurl: weibo.cn weibo.com
/users/outgoing: deviantart.com
*: search.yahoo.* linkprotect.cudasvc.com safelinks.protection.outlook.com protection.sophos.com
*: statics.teams.cdn.office.net clicktime.symantec.com secure-web.cisco.com avanan.click
*: awstrack.me l.instagram.com l.threads.net l.threads.com l.wl.co out.reddit.com disq.us exit.sc
*: slack-redir.net link.zhihu.com link.csdn.net link.juejin.cn link.jianshu.com href.li anonym.to
*: go.skimresources.com go.redirectingat.com redirect.viglink.com
"""
"""Paths (`*`: whatever follows), and the hosts (`.*`: in any country) with their subdomains."""
_PLACES = ("q", "url", "u", "uddg", "imgrefurl", "target", "t", "to", "a", "z", "toasturl", "query")
"""Parameters with the target, if it is not in the path."""
ARCHIVES = """
archive.org archive.today archive.ph archive.is archive.li archive.vn archive.fo archive.md
webcitation.org ghostarchive.org perma.cc archive-it.org freezepage.com megalodon.jp arquivo.pt
webarchive.nationalarchives.gov.uk webarchive.loc.gov webarchive.org.uk webarchive.parliament.uk
swap.stanford.edu vefsafn.is timetravel.mementoweb.org
"""
"""Hosts of web archives."""
COPIES = f"""{ARCHIVES}
webcache.googleusercontent.com yandexwebcache.net hghltd.yandex.net cdn.ampproject.org t.me
r.jina.ai txtify.it outline.com smry.ai removepaywall.com removepaywalls.com 12ft.io 1ft.io
freedium.cfd freedium-mirror.cfd leiaisso.net pure.md defuddle.md markdown.new corsproxy.io
api.allorigins.win urltomarkdown.herokuapp.com printfriendly.com
translate.google.* translate.googleusercontent.com translate.yandex.* turbopages.org
z5h64q92x9.net translatetheweb.com microsofttranslator.com fanyi.baidu.com papago.naver.net
papago.naver.com
"""
"""Hosts of copies, also of reading proxies and translations: pages of their own, which bans look
through."""
OPAQUE = """
vertexaisearch.cloud.google.com t.co lnkd.in bit.ly bitly.com j.mp goo.gl g.co tinyurl.com ow.ly
buff.ly is.gd v.gd t.ly rb.gy rebrand.ly cutt.ly shorturl.at tiny.cc dlvr.it trib.al fb.me amzn.to
a.co nyti.ms wapo.st reut.rs econ.st on.ft.com mimecast.com ift.tt aka.ms share.google search.app
"""
"""Hosts of redirects that say nothing of their target: they end, whether or not it exists."""
_COUNTRY = re.compile(r"(?<![\w-])(google|yandex|yahoo)\.[a-z]{2,3}(?:\.[a-z]{2})?$")
_START = re.compile(r"^/*(?:[^?:]*\?(?=http))?")
_SCHEME = re.compile(r"https?(?:(?::|%3A)(?:/|(%2F)){1,3}|/(?=[\w-]+\.[\w.-]+/))", re.IGNORECASE)
_NO_SCHEME = re.compile(
    r"(?:(?:[\w-]{1,30}/){0,2}[\d*][\w*-]{0,30}/|(?:web|save|newest|oldest|proxy|amp/s|[cv]/s)/)?"
    r"((?:[\w-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:[/?#].*)?)",
    re.IGNORECASE | re.DOTALL,
)
_ENCODED = re.compile(r"https?%(?:25){0,4}3A", re.IGNORECASE)
_BASE64 = re.compile(r"(?:a1)?(aHR0c[\w+/-]{6,4000})={0,2}")
_TRANSLATED = re.compile(r"(?:^|&)_x_tr_[^&]*")
_CACHED = re.compile(r"^cache:(?:[\w-]{12}:)?(?:https?://)?(\S+).*")
_REPLACED = re.compile(r"\*(?:\*([\w-]))?", re.ASCII)
_LENGTHS = ascii_uppercase + ascii_lowercase + digits + "-_"
_ROWS = (line.partition(": ") for line in REDIRECTS.strip().splitlines())
_REDIRECTS = {host: paths.split() for paths, _, hosts in _ROWS for host in hosts.split()}
_COPIES = frozenset(COPIES.split())
_WRAPPERS = _COPIES | frozenset(OPAQUE.split())


def find_target(url: str, *, copies: bool = False) -> str | None:
    """Return the address that an address redirects to, if it carries that one; None if not.

    copies: also that of the page whose copy or translation it is.
    """
    try:
        found = _read_target(url, copies)
    except ValueError:  # it has no valid host, or holds no base64
        return None
    whole = re.sub(r"^(https?)[:/]+", r"\1://", (found or "").strip(), flags=re.IGNORECASE)
    return re.sub(r"\s", "%20", whole) or None


def is_wrapper(url: str) -> bool:
    """Whether an address stands for another page's: a redirect, even one that does not say to what,
    or a copy."""
    labels = (urlsplit(url).hostname or "").split(".")
    hosts = {".".join(labels[place:]) for place in range(len(labels))}
    return not _WRAPPERS.isdisjoint(hosts) or find_target(url, copies=True) is not None


def _read_target(url: str, copies: bool) -> str | None:
    parts = urlsplit(url)
    host = _COUNTRY.sub(r"\1.*", (parts.hostname or "").removesuffix("."))
    path = unquote(parts.path).rstrip("/")
    if copies and host.endswith(".translate.goog"):
        name = host.removesuffix(".translate.goog").replace("-", ".").replace("..", "-")
        return f"https://{name}{parts.path}?{_TRANSLATED.sub('', parts.query)}"
    while host:
        is_copy = copies and host in _COPIES
        if is_copy or any(fnmatchcase(path, form) for form in _REDIRECTS.get(host, ())):
            values = dict(reversed(parse_qsl(parts.query)))
            named = (_read_value(values.get(place, "")) for place in _PLACES)
            rest = _START.sub("", url.partition("//")[2][len(parts.netloc) :])
            in_rest = _find_in_rest(rest, bare=is_copy or path.startswith("/amp/"))
            return in_rest or next(filter(None, named), None)
        host = host.partition(".")[2]
    return None


def _find_in_rest(rest: str, *, bare: bool) -> str | None:
    if bare and (match := _NO_SCHEME.fullmatch(rest)):
        return f"http://{match[1]}"
    if not (match := _SCHEME.search(rest.partition("?")[0])):
        return None
    target = rest[match.start() :]
    if match[1]:
        return unquote(re.split(r"[/?#]", target, maxsplit=1)[0])
    if rest.startswith("v3/__"):
        return _restore(*target.partition("__;")[::2])
    return target.partition("___")[0]


def _restore(text: str, replaced: str) -> str:
    """Put back what version 3 of URL Defense writes as `*`, or as `**` and a letter for a run: the
    characters follow the address in base64."""
    characters = iter(urlsafe_b64decode(replaced.partition("!")[0].rstrip("=") + "==").decode())

    def put_back(star: re.Match[str]) -> str:
        return "".join(islice(characters, _LENGTHS.index(star[1]) + 2 if star[1] else 1))

    return _REPLACED.sub(put_back, text)


def _read_value(value: str) -> str | None:
    """Return the address in a parameter's value, also encoded more than once or in base64."""
    value = _CACHED.sub(r"https://\1", value)
    if match := _BASE64.fullmatch(value):
        value = urlsafe_b64decode(f"{match[1]}==").decode()
    if value.startswith(("http-3A__", "https-3A__")):  # version 2 of URL Defense
        value = value.replace("-", "%").replace("_", "/")
    while _ENCODED.match(value):
        value = unquote(value)
    return value if _SCHEME.match(value) else None
