"""``Prefer: wait=N`` (RFC 7240): hold an answer until something is done.

No database session is open while waiting, and only a few requests may wait at a time, since each
holds one of the server's threads. One too many is answered at once, as the RFC allows.
"""

import re
import threading
import time
from uuid import UUID

from flask import request

from service.accounts.records import Principal
from service.api.state import close_session, open_session
from service.importers.queries import get_import
from service.tables import Import, ImportState

LONGEST_WAIT_S = 30
MOST_WAITING = 3
LOOK_EVERY_S = 0.2

_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,6})"?\s*(?=$|[,;])', re.ASCII | re.I)
_places = threading.BoundedSemaphore(MOST_WAITING)


def wanted_wait_s() -> int:
    """Seconds that the caller would wait; 0 where nothing sensible is said."""
    found = _WAIT.search(request.headers.get("Prefer", "")[:200])
    return min(int(found[1]), LONGEST_WAIT_S) if found else 0


def applied(seconds: int) -> dict[str, str]:
    return {"Preference-Applied": f"wait={seconds}"}


def wait_for_import(who: Principal, import_id: UUID, seconds: int) -> Import | None:
    """The import once it is finished, or as it is after so long; None if too many wait already.

    Closes the request's session after each look.
    """
    if not _places.acquire(blocking=False):
        return None
    try:
        until = time.monotonic() + seconds
        while True:
            brought = get_import(open_session(who, to_write=False), who.user_id, import_id)
            close_session()
            left = until - time.monotonic()
            if brought.state in (ImportState.DONE, ImportState.FAILED) or left <= 0:
                return brought
            time.sleep(min(LOOK_EVERY_S, left))
    finally:
        _places.release()
