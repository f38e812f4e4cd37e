"""experiments

Revision: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "experiment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("is_running", sa.Boolean(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("stopped_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("control_generation", sa.Text(), nullable=False),
        sa.Column("challenger_generation", sa.Text(), nullable=False),
        sa.Column("control_settings", sa.JSON(), nullable=False),
        sa.Column("challenger_settings", sa.JSON(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("alpha", sa.Double(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("decision", sa.String(length=32), nullable=True),
        sa.Column("adopted", sa.String(length=32), nullable=True),
        sa.CheckConstraint(
            "decision IN ('undecided', 'control', 'challenger', 'no_difference')",
            name=op.f("ck_experiment_decision_known"),
        ),
        sa.CheckConstraint(
            "adopted IN ('control', 'challenger')", name=op.f("ck_experiment_adopted_known")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_experiment")),
        sa.UniqueConstraint("is_running", name=op.f("uq_experiment_is_running")),
        sa.UniqueConstraint("name", name=op.f("uq_experiment_name")),
        sa.UniqueConstraint("public_id", name=op.f("uq_experiment_public_id")),
    )
    with op.batch_alter_table("slate", schema=None) as batch_op:
        batch_op.add_column(sa.Column("experiment_id", sa.Integer(), nullable=True))
        batch_op.create_foreign_key(
            batch_op.f("fk_slate_experiment_id_experiment"),
            "experiment",
            ["experiment_id"],
            ["id"],
            ondelete="SET NULL",
        )
        batch_op.create_index(batch_op.f("ix_slate_experiment_id"), ["experiment_id"])
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.add_column(sa.Column("arm", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("generation", sa.Text(), nullable=True))
        batch_op.create_check_constraint(
            batch_op.f("ck_impression_arm_known"), "arm IN ('control', 'challenger')"
        )
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_interaction_slate_id"), ["slate_id"])


def downgrade() -> None:
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_interaction_slate_id"))
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f("ck_impression_arm_known"), type_="check")
        batch_op.drop_column("generation")
        batch_op.drop_column("arm")
    with op.batch_alter_table("slate", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_slate_experiment_id"))
        batch_op.drop_constraint(
            batch_op.f("fk_slate_experiment_id_experiment"), type_="foreignkey"
        )
        batch_op.drop_column("experiment_id")
    op.drop_table("experiment")
