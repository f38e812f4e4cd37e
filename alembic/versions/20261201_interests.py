"""interests

Revision: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "interest",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("weight", sa.Double(), nullable=False),
        sa.Column("muted", sa.Boolean(), nullable=False),
        sa.Column("merged_into_id", sa.Integer(), nullable=True),
        sa.Column("anchors", sa.JSON(), nullable=False),
        sa.Column("terms", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("matched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint("weight BETWEEN 0 AND 4", name=op.f("ck_interest_weight_range")),
        sa.ForeignKeyConstraint(
            ["merged_into_id"],
            ["interest.id"],
            name=op.f("fk_interest_merged_into_id_interest"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_interest_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_interest")),
        sa.UniqueConstraint("public_id", name=op.f("uq_interest_public_id")),
    )
    with op.batch_alter_table("interest", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_interest_merged_into_id"), ["merged_into_id"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_interest_user_id"), ["user_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("interest", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_interest_user_id"))
        batch_op.drop_index(batch_op.f("ix_interest_merged_into_id"))

    op.drop_table("interest")
