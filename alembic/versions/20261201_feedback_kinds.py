"""more like this, and versions of feedback

Revision: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

KINDS = "'seen', 'later', 'not_my_topic', 'low_quality'"
INTERACTIONS = "'save', 'unsave', 'status', 'open', 'rate', 'unrate', 'dismiss', 'undismiss'"
NEW = "'more_like_this'"


def upgrade() -> None:
    with op.batch_alter_table("dismissal") as table:
        table.add_column(sa.Column("version", sa.Integer(), nullable=False, server_default="1"))
    _allow("dismissal", f"{KINDS}, {NEW}")
    _allow("interaction", f"{INTERACTIONS}, {NEW}")
    # Only the rows that were there needed it: the code gives each new one its version.
    with op.batch_alter_table("dismissal") as table:
        table.alter_column("version", server_default=None)


def downgrade() -> None:
    # The code before knows no word for it, and every other kind would make something else of it:
    # a dislike, or a paper that is hidden. What was said of all other papers stays.
    op.execute(f"DELETE FROM dismissal WHERE kind = {NEW}")  # noqa: S608
    op.execute(f"DELETE FROM interaction WHERE kind = {NEW}")  # noqa: S608
    _allow("dismissal", KINDS)
    _allow("interaction", INTERACTIONS)
    with op.batch_alter_table("dismissal") as table:
        table.drop_column("version")


def _allow(table_name: str, kinds: str) -> None:
    with op.batch_alter_table(table_name) as table:
        name = op.f(f"ck_{table_name}_kind_known")
        table.drop_constraint(name, type_="check")
        table.create_check_constraint(name, f"kind IN ({kinds})")
