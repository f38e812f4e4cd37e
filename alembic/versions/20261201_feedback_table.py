"""one name for what a person says of a paper: feedback

Revision: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _move("dismissal", "dismissed_at", "feedback", "given_at")


def downgrade() -> None:
    _move("feedback", "given_at", "dismissal", "dismissed_at")


def _move(old: str, old_at: str, new: str, new_at: str) -> None:
    """A new table with the rows of the old one: SQLite can rename neither constraints nor indexes,
    and by their names later migrations find them."""
    op.create_table(
        new,
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column(new_at, sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('seen', 'later', 'not_my_topic', 'low_quality', 'more_like_this')",
            name=op.f(f"ck_{new}_kind_known"),
        ),
        sa.ForeignKeyConstraint(["paper_id"], ["paper.id"], name=op.f(f"fk_{new}_paper_id_paper")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f(f"fk_{new}_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{new}")),
        sa.UniqueConstraint("public_id", name=op.f(f"uq_{new}_public_id")),
        sa.UniqueConstraint("user_id", "paper_id", name=op.f(f"uq_{new}_user_id_paper_id")),
    )
    same = "id, public_id, user_id, paper_id, kind, until, library_version, version"
    op.execute(f"INSERT INTO {new} ({same}, {new_at}) SELECT {same}, {old_at} FROM {old}")  # noqa: S608
    if op.get_bind().dialect.name == "postgresql":
        # The rows brought their numbers along; the next one gets a number after them.
        op.execute(
            f"SELECT setval(pg_get_serial_sequence('{new}', 'id'), max(id)) FROM {new}"  # noqa: S608
        )
    op.drop_table(old)
    op.create_index(op.f(f"ix_{new}_paper_id"), new, ["paper_id"])
    op.create_index(op.f(f"ix_{new}_user_id"), new, ["user_id"])
    in_order = op.f(f"ix_{new}_user_id_{new}_{new_at}_{new}_public_id")
    op.create_index(in_order, new, ["user_id", new_at, "public_id"])
