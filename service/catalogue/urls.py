"""One spelling for the address of a web page, so that two ways of writing it are one link."""

import ipaddress
import re
from urllib.parse import SplitResult, quote, unquote, urlsplit

from service.errors import InvalidInput

LONGEST_URL = 2048
"""Characters of a whole address; the longest that every browser and proxy passes on."""

DEFAULT_PORTS = {"http": 80, "https": 443}

TRACKING = re.compile(
    r"(?:utm|mtm|hsa)_.*|_ga|_gl|_hsenc|_hsmi|dclid|fb_action_ids|fb_source|fbclid|gbraid|gclid"
    r"|gclsrc|igshid|mc_cid|mc_eid|mkt_tok|msclkid|ref|ref_src|ref_url|referrer|s_cid|spm|srsltid"
    r"|twclid|vero_id|wbraid|yclid",
    re.IGNORECASE | re.DOTALL,
)
"""Parameters that tell where a reader came from and never which page it is."""

KEPT_IN_PATH = "/:@!$&'()*+,;=~"
KEPT_IN_QUERY = KEPT_IN_PATH + "?"

ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
HOST_LABEL = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
NUMBER_LABEL = re.compile(r"[0-9]+|0x[0-9a-f]*")


def normalise_url(url: str) -> str:
    """The address of a page in its one spelling; refuses what isn't a plain web address.

    Scheme and host become lower case, the host ASCII (IDN as punycode). The default port,
    tracking parameters, the slash at the end of a path and the fragment go; a fragment that
    is a route (``#/…``, ``#!…``) stays. Parameters are sorted by name, repeated ones keep
    their order. http is not turned into https: not every site answers to both.
    """
    text = url.strip()
    parts = _split(text)
    result = f"{parts.scheme}://{_authority(parts)}{_path(parts.path)}"
    if query := _query(parts.query):
        result += f"?{query}"
    if parts.fragment.startswith(("/", "!")) and len(parts.fragment) > 1:
        result += f"#{_escaped(parts.fragment, KEPT_IN_QUERY)}"
    if len(result) > LONGEST_URL:
        raise _refused(f"is longer than {LONGEST_URL} characters")
    return result


def _refused(reason: str) -> InvalidInput:
    return InvalidInput(f"The link {reason}.", field="url")


def _split(text: str) -> SplitResult:
    if len(text) > LONGEST_URL:
        raise _refused(f"is longer than {LONGEST_URL} characters")
    if CONTROL.search(text) or not _is_unicode(text):
        raise _refused("contains control characters")
    if "\\" in text:
        raise _refused("contains a backslash; addresses have forward slashes")
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise _refused("has a host name that can't be read") from error
    if parts.scheme not in DEFAULT_PORTS:
        raise _refused("must begin with https:// or http://")
    if "@" in parts.netloc:
        raise _refused("contains a user name or password; leave it out")
    if not parts.netloc:
        raise _refused("has no host name")
    return parts


def _is_unicode(text: str) -> bool:
    """Whether UTF-8 can say it: a lone half of a surrogate pair can't be sent anywhere."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _authority(parts: SplitResult) -> str:
    try:
        name, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise _refused("has a port that is not a number from 1 to 65535") from error
    host = _ip6(name) if parts.netloc.startswith("[") else _host(name)
    if port is None or port == DEFAULT_PORTS[parts.scheme]:
        return host
    if port == 0:
        raise _refused("has a port that is not a number from 1 to 65535")
    return f"{host}:{port}"


def _ip6(name: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(name.partition('%')[0])}]"
    except ValueError as error:
        raise _refused("has a host name that can't be read") from error


def _host(name: str) -> str:
    try:
        host = name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError as error:
        raise _refused("has a host name that can't be read") from error
    labels = host.split(".")
    if len(host) > 253 or not all(HOST_LABEL.fullmatch(label) for label in labels):
        raise _refused("has a host name that can't be read")
    if NUMBER_LABEL.fullmatch(labels[-1]):
        # Browsers read 0x7f.1 and 2130706433 as 127.0.0.1; only the plain form is let in.
        try:
            return str(ipaddress.IPv4Address(host))
        except ValueError as error:
            raise _refused("has a host name that can't be read") from error
    return host


def _path(path: str) -> str:
    kept: list[str] = []
    for segment in _escaped(path, KEPT_IN_PATH).split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    return "/" + "/".join(kept).strip("/")


def _query(query: str) -> str:
    pieces = (_escaped(piece, KEPT_IN_QUERY) for piece in query.split("&") if piece)
    return "&".join(sorted((p for p in pieces if not _is_tracking(p)), key=_name))


def _name(piece: str) -> str:
    return piece.partition("=")[0]


def _is_tracking(piece: str) -> bool:
    return TRACKING.fullmatch(unquote(_name(piece))) is not None


def _escaped(text: str, kept: str) -> str:
    """With exactly the escapes it needs: unreserved characters plain, hex digits in capitals."""
    escaped = BARE_PERCENT.sub("%25", text)
    return quote(ESCAPE.sub(_without_needless_escape, escaped), safe=kept + "%")


def _without_needless_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if UNRESERVED.fullmatch(character) else escape[0].upper()
