"""The database's schema. The recommender's models are another thing and live in ``models/``."""

from service.tables.accounts import (
    AnswerState,
    ApiToken,
    AuditEntry,
    FailedLogin,
    IdempotencyKey,
    User,
)
from service.tables.base import LARGEST_INT, Base, clean_text
from service.tables.experiments import Arm, Decision, Experiment
from service.tables.interactions import Impression, Interaction, InteractionKind, Slate
from service.tables.interests import LARGEST_WEIGHT, Interest
from service.tables.jobs import Import, ImportRow, ImportState, Job, JobState, Outcome
from service.tables.library import (
    Bookmark,
    BookmarkCollection,
    BookmarkTag,
    Collection,
    Feedback,
    FeedbackKind,
    LibraryDeletion,
    Rating,
    ReadingStatus,
    Tag,
)
from service.tables.papers import (
    CatalogueState,
    Paper,
    PaperAuthor,
    PaperIdentifier,
    PaperSource,
    Work,
)

__all__ = [
    "LARGEST_INT",
    "LARGEST_WEIGHT",
    "AnswerState",
    "ApiToken",
    "Arm",
    "AuditEntry",
    "Base",
    "Bookmark",
    "BookmarkCollection",
    "BookmarkTag",
    "CatalogueState",
    "Collection",
    "Decision",
    "Experiment",
    "FailedLogin",
    "Feedback",
    "FeedbackKind",
    "IdempotencyKey",
    "Import",
    "ImportRow",
    "ImportState",
    "Impression",
    "Interaction",
    "InteractionKind",
    "Interest",
    "Job",
    "JobState",
    "LibraryDeletion",
    "Outcome",
    "Paper",
    "PaperAuthor",
    "PaperIdentifier",
    "PaperSource",
    "Rating",
    "ReadingStatus",
    "Slate",
    "Tag",
    "User",
    "Work",
    "clean_text",
]
