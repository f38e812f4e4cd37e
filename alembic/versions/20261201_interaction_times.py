"""interaction times

An index for what came first after a training. What chance a paper had is unknown, and not
made up, where both an experiment and exploration drew.

Revision: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_interaction_at"), ["at"])
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.alter_column("propensity", existing_type=sa.Double(), nullable=True)


def downgrade() -> None:
    # The code before has no way to say that it is not known.
    op.execute("UPDATE impression SET propensity = 1 WHERE propensity IS NULL")
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.alter_column("propensity", existing_type=sa.Double(), nullable=False)
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_interaction_at"))
