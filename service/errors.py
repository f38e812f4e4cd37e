"""What can go wrong, in words that say what would be right.

Rooms raise these; a door turns them into a status, an exit code or a report line.
"""


class ServiceError(Exception):
    """Something the caller can understand and act on."""


class InvalidInput(ServiceError):
    """What was sent cannot be used; ``field`` or ``line`` names the place."""

    def __init__(self, message: str, *, field: str | None = None, line: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.line = line


class NotAuthenticated(ServiceError):
    """Nobody, or nobody we know."""


class NotAllowed(ServiceError):
    """Known, but without the right to do this."""


class NotFound(ServiceError):
    """There is no such thing, or it is another person's: the two are never told apart."""


class Conflict(ServiceError):
    """It contradicts what is there already."""


class PreconditionRequired(ServiceError):
    """A change without the version it is meant to change."""


class PreconditionFailed(ServiceError):
    """The thing has changed since the caller read it."""


class IdempotencyMismatch(ServiceError):
    """An Idempotency-Key came again with another request behind it."""


class TooManyAttempts(ServiceError):
    """Come back after ``retry_after_s`` seconds."""

    def __init__(self, message: str, *, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class TemporarilyUnavailable(ServiceError):
    """The service cannot do this now, and could soon: retry after ``retry_after_s`` seconds."""

    def __init__(self, message: str, *, retry_after_s: int = 5) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class CannotStart(ServiceError):
    """The settings or the machine do not let the service start; one sentence for the operator."""


class ModelRefused(ServiceError):
    """A newly trained model is not fit to serve; the last one stays."""
