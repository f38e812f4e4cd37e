"""imports

Revision: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "collection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_collection_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_collection")),
        sa.UniqueConstraint("public_id", name=op.f("uq_collection_public_id")),
        sa.UniqueConstraint("user_id", "path", name=op.f("uq_collection_user_id_path")),
    )
    with op.batch_alter_table("collection", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_collection_user_id"), ["user_id"], unique=False)

    op.create_table(
        "bookmark_collection",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("bookmark_id", sa.Integer(), nullable=False),
        sa.Column("collection_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bookmark_id"],
            ["bookmark.id"],
            name=op.f("fk_bookmark_collection_bookmark_id_bookmark"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["collection_id"],
            ["collection.id"],
            name=op.f("fk_bookmark_collection_collection_id_collection"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["user.id"],
            name=op.f("fk_bookmark_collection_user_id_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bookmark_collection")),
        sa.UniqueConstraint(
            "bookmark_id",
            "collection_id",
            name=op.f("uq_bookmark_collection_bookmark_id_collection_id"),
        ),
    )
    with op.batch_alter_table("bookmark_collection", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_bookmark_collection_collection_id"), ["collection_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_bookmark_collection_user_id"), ["user_id"], unique=False
        )

    with op.batch_alter_table("bookmark", schema=None) as batch_op:
        batch_op.add_column(sa.Column("citation_key", sa.Text(), nullable=True))

    with op.batch_alter_table("import", schema=None) as batch_op:
        batch_op.add_column(sa.Column("format", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("encoding", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("saves", sa.Boolean(), nullable=True))
        batch_op.add_column(sa.Column("n_saved", sa.Integer(), server_default="0", nullable=False))

    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column("is_saved", sa.Boolean(), server_default=sa.false(), nullable=False)
        )
        batch_op.add_column(sa.Column("source", sa.Text(), nullable=True))

    with op.batch_alter_table("paper", schema=None) as batch_op:
        batch_op.add_column(sa.Column("published", sa.String(length=10), nullable=True))
        batch_op.add_column(sa.Column("kind", sa.String(length=32), nullable=True))
        batch_op.add_column(sa.Column("details", sa.JSON(), nullable=True))
        batch_op.add_column(sa.Column("withdrawal", sa.Text(), nullable=True))

    with op.batch_alter_table("paper_author", schema=None) as batch_op:
        batch_op.add_column(sa.Column("family", sa.Text(), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("paper_author", schema=None) as batch_op:
        batch_op.drop_column("family")

    with op.batch_alter_table("paper", schema=None) as batch_op:
        batch_op.drop_column("withdrawal")
        batch_op.drop_column("details")
        batch_op.drop_column("kind")
        batch_op.drop_column("published")

    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.drop_column("source")
        batch_op.drop_column("is_saved")

    with op.batch_alter_table("import", schema=None) as batch_op:
        batch_op.drop_column("n_saved")
        batch_op.drop_column("saves")
        batch_op.drop_column("encoding")
        batch_op.drop_column("format")

    with op.batch_alter_table("bookmark", schema=None) as batch_op:
        batch_op.drop_column("citation_key")

    with op.batch_alter_table("bookmark_collection", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bookmark_collection_user_id"))
        batch_op.drop_index(batch_op.f("ix_bookmark_collection_collection_id"))

    op.drop_table("bookmark_collection")
    with op.batch_alter_table("collection", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_collection_user_id"))

    op.drop_table("collection")
