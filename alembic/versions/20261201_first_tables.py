"""first tables

Revision: 0001
Revises:
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "catalogue_state",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("catalogue_version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_catalogue_state")),
    )
    op.execute("INSERT INTO catalogue_state (id, catalogue_version) VALUES (1, 0)")
    op.create_table(
        "failed_login",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("address_hash", sa.String(length=64), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_login")),
        sa.UniqueConstraint("address_hash", name=op.f("uq_failed_login_address_hash")),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("waiting_key", sa.String(length=64), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("run_after", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_job_state_known")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("public_id", name=op.f("uq_job_public_id")),
        sa.UniqueConstraint("waiting_key", name=op.f("uq_job_waiting_key")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_job_state_job_run_after"), ["state", "run_after"], unique=False
        )

    op.create_table(
        "user",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("is_admin", sa.Boolean(), nullable=False),
        sa.Column("is_disabled", sa.Boolean(), nullable=False),
        sa.Column("zone", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user")),
        sa.UniqueConstraint("email", name=op.f("uq_user_email")),
        sa.UniqueConstraint("public_id", name=op.f("uq_user_public_id")),
    )
    op.create_table(
        "work",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("catalogue_version", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_work")),
        sa.UniqueConstraint("public_id", name=op.f("uq_work_public_id")),
    )
    with op.batch_alter_table("work", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_work_catalogue_version"), ["catalogue_version"], unique=False
        )

    op.create_table(
        "api_token",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_id", sa.String(length=8), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_api_token_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_token")),
        sa.UniqueConstraint("public_id", name=op.f("uq_api_token_public_id")),
        sa.UniqueConstraint("token_id", name=op.f("uq_api_token_token_id")),
    )
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "audit_entry",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor_id", sa.Integer(), nullable=True),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("object_kind", sa.String(length=32), nullable=True),
        sa.Column("object_id", sa.String(length=64), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.ForeignKeyConstraint(
            ["actor_id"],
            ["user.id"],
            name=op.f("fk_audit_entry_actor_id_user"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    with op.batch_alter_table("audit_entry", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_audit_entry_actor_id"), ["actor_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_audit_entry_at"), ["at"], unique=False)

    op.create_table(
        "idempotency_key",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.String(length=255), nullable=False),
        sa.Column("request_hash", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.JSON(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "state IN ('in_flight', 'answered')", name=op.f("ck_idempotency_key_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["user.id"],
            name=op.f("fk_idempotency_key_user_id_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_idempotency_key")),
        sa.UniqueConstraint("user_id", "key", name=op.f("uq_idempotency_key_user_id_key")),
    )
    with op.batch_alter_table("idempotency_key", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_idempotency_key_created_at"), ["created_at"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_idempotency_key_user_id"), ["user_id"], unique=False)

    op.create_table(
        "import",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("file_name", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("state", sa.String(length=32), nullable=False),
        sa.Column("list_name", sa.Text(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("n_entries", sa.Integer(), nullable=False),
        sa.Column("n_created", sa.Integer(), nullable=False),
        sa.Column("n_known", sa.Integer(), nullable=False),
        sa.Column("n_skipped", sa.Integer(), nullable=False),
        sa.Column("n_failed", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'done', 'failed')", name=op.f("ck_import_state_known")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_import_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import")),
        sa.UniqueConstraint("public_id", name=op.f("uq_import_public_id")),
    )
    with op.batch_alter_table("import", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_import_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_import_user_id_import_created_at_import_public_id"),
            ["user_id", "created_at", "public_id"],
            unique=False,
        )

    op.create_table(
        "library_deletion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("object_kind", sa.String(length=16), nullable=False),
        sa.Column("object_id", sa.String(length=36), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["user.id"],
            name=op.f("fk_library_deletion_user_id_user"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_library_deletion")),
    )
    with op.batch_alter_table("library_deletion", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_library_deletion_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_library_deletion_user_id_library_deletion_library_version"),
            ["user_id", "library_version"],
            unique=False,
        )

    op.create_table(
        "paper",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("work_id", sa.Integer(), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("display_title", sa.Text(), nullable=False),
        sa.Column("derived_name", sa.Text(), nullable=True),
        sa.Column("title_confidence", sa.Double(), nullable=False),
        sa.Column("abstract", sa.Text(), nullable=True),
        sa.Column("abstract_text", sa.Text(), nullable=True),
        sa.Column("venue", sa.Text(), nullable=True),
        sa.Column("year", sa.Integer(), nullable=True),
        sa.Column("url", sa.Text(), nullable=True),
        sa.Column("pdf_url", sa.Text(), nullable=True),
        sa.Column("code_url", sa.Text(), nullable=True),
        sa.Column("source", sa.String(length=32), nullable=False),
        sa.Column("list_name", sa.Text(), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=True),
        sa.Column("added_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("catalogue_version", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "source IN ('starter', 'listing', 'person')", name=op.f("ck_paper_source_known")
        ),
        sa.CheckConstraint("year BETWEEN 1000 AND 3000", name=op.f("ck_paper_year_plausible")),
        sa.ForeignKeyConstraint(["work_id"], ["work.id"], name=op.f("fk_paper_work_id_work")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_paper")),
        sa.UniqueConstraint("fingerprint", name=op.f("uq_paper_fingerprint")),
        sa.UniqueConstraint("public_id", name=op.f("uq_paper_public_id")),
    )
    with op.batch_alter_table("paper", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_paper_added_at_paper_public_id"), ["added_at", "public_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_paper_catalogue_version"), ["catalogue_version"], unique=False
        )
        batch_op.create_index(batch_op.f("ix_paper_work_id"), ["work_id"], unique=False)

    op.create_table(
        "slate",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("generation", sa.Text(), nullable=True),
        sa.Column("strategy", sa.String(length=32), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.Column("catalogue_version", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_slate_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slate")),
        sa.UniqueConstraint("public_id", name=op.f("uq_slate_public_id")),
    )
    with op.batch_alter_table("slate", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_slate_user_id"), ["user_id"], unique=False)

    op.create_table(
        "tag",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_tag_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tag")),
        sa.UniqueConstraint("public_id", name=op.f("uq_tag_public_id")),
        sa.UniqueConstraint("user_id", "name_key", name=op.f("uq_tag_user_id_name_key")),
    )
    with op.batch_alter_table("tag", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_tag_user_id"), ["user_id"], unique=False)

    op.create_table(
        "bookmark",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("saved_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status IN ('to_read', 'reading', 'read', 'archived')",
            name=op.f("ck_bookmark_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["paper_id"], ["paper.id"], name=op.f("fk_bookmark_paper_id_paper")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_bookmark_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bookmark")),
        sa.UniqueConstraint("public_id", name=op.f("uq_bookmark_public_id")),
        sa.UniqueConstraint("user_id", "paper_id", name=op.f("uq_bookmark_user_id_paper_id")),
    )
    with op.batch_alter_table("bookmark", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bookmark_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_bookmark_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_bookmark_user_id_bookmark_library_version"),
            ["user_id", "library_version"],
            unique=False,
        )
        batch_op.create_index(
            batch_op.f("ix_bookmark_user_id_bookmark_saved_at_bookmark_public_id"),
            ["user_id", "saved_at", "public_id"],
            unique=False,
        )

    op.create_table(
        "dismissal",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("dismissed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('seen', 'later', 'not_my_topic', 'low_quality')",
            name=op.f("ck_dismissal_kind_known"),
        ),
        sa.ForeignKeyConstraint(
            ["paper_id"], ["paper.id"], name=op.f("fk_dismissal_paper_id_paper")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_dismissal_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dismissal")),
        sa.UniqueConstraint("public_id", name=op.f("uq_dismissal_public_id")),
        sa.UniqueConstraint("user_id", "paper_id", name=op.f("uq_dismissal_user_id_paper_id")),
    )
    with op.batch_alter_table("dismissal", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_dismissal_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_dismissal_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_dismissal_user_id_dismissal_dismissed_at_dismissal_public_id"),
            ["user_id", "dismissed_at", "public_id"],
            unique=False,
        )

    op.create_table(
        "import_row",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        sa.Column("end_line", sa.Integer(), nullable=False),
        sa.Column("outcome", sa.String(length=32), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=True),
        sa.Column("excerpt", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("remedy", sa.Text(), nullable=True),
        sa.CheckConstraint(
            "outcome IN ('created', 'known', 'skipped', 'failed')",
            name=op.f("ck_import_row_outcome_known"),
        ),
        sa.ForeignKeyConstraint(
            ["import_id"],
            ["import.id"],
            name=op.f("fk_import_row_import_id_import"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["paper_id"], ["paper.id"], name=op.f("fk_import_row_paper_id_paper")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_import_row_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_import_row")),
        sa.UniqueConstraint("import_id", "position", name=op.f("uq_import_row_import_id_position")),
    )
    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_import_row_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_import_row_user_id"), ["user_id"], unique=False)

    op.create_table(
        "impression",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("slate_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("propensity", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["paper_id"], ["paper.id"], name=op.f("fk_impression_paper_id_paper")
        ),
        sa.ForeignKeyConstraint(
            ["slate_id"],
            ["slate.id"],
            name=op.f("fk_impression_slate_id_slate"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_impression_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_impression")),
        sa.UniqueConstraint("slate_id", "position", name=op.f("uq_impression_slate_id_position")),
    )
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_impression_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_impression_user_id"), ["user_id"], unique=False)

    op.create_table(
        "interaction",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("value", sa.String(length=32), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("slate_id", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("generation", sa.Text(), nullable=True),
        sa.Column("propensity", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('save', 'unsave', 'status', 'open', 'rate', 'unrate', 'dismiss', 'undismiss')",
            name=op.f("ck_interaction_kind_known"),
        ),
        sa.ForeignKeyConstraint(
            ["paper_id"], ["paper.id"], name=op.f("fk_interaction_paper_id_paper")
        ),
        sa.ForeignKeyConstraint(
            ["slate_id"],
            ["slate.id"],
            name=op.f("fk_interaction_slate_id_slate"),
            ondelete="SET NULL",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_interaction_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_interaction")),
    )
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_interaction_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_interaction_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_interaction_user_id_interaction_paper_id_interaction_kind"),
            ["user_id", "paper_id", "kind"],
            unique=False,
        )

    op.create_table(
        "paper_author",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["paper_id"],
            ["paper.id"],
            name=op.f("fk_paper_author_paper_id_paper"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_paper_author")),
        sa.UniqueConstraint("paper_id", "position", name=op.f("uq_paper_author_paper_id_position")),
    )
    op.create_table(
        "paper_identifier",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("scheme", sa.String(length=16), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ["paper_id"],
            ["paper.id"],
            name=op.f("fk_paper_identifier_paper_id_paper"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_paper_identifier")),
        sa.UniqueConstraint("scheme", "value", name=op.f("uq_paper_identifier_scheme_value")),
    )
    with op.batch_alter_table("paper_identifier", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_paper_identifier_paper_id"), ["paper_id"], unique=False
        )

    op.create_table(
        "rating",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("public_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("paper_id", sa.Integer(), nullable=False),
        sa.Column("stars", sa.Integer(), nullable=False),
        sa.Column("rated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("library_version", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.CheckConstraint("stars BETWEEN 1 AND 5", name=op.f("ck_rating_stars_range")),
        sa.ForeignKeyConstraint(["paper_id"], ["paper.id"], name=op.f("fk_rating_paper_id_paper")),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_rating_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rating")),
        sa.UniqueConstraint("public_id", name=op.f("uq_rating_public_id")),
        sa.UniqueConstraint("user_id", "paper_id", name=op.f("uq_rating_user_id_paper_id")),
    )
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_rating_paper_id"), ["paper_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_rating_user_id"), ["user_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_rating_user_id_rating_rated_at_rating_public_id"),
            ["user_id", "rated_at", "public_id"],
            unique=False,
        )

    op.create_table(
        "bookmark_tag",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("bookmark_id", sa.Integer(), nullable=False),
        sa.Column("tag_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bookmark_id"],
            ["bookmark.id"],
            name=op.f("fk_bookmark_tag_bookmark_id_bookmark"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["tag_id"], ["tag.id"], name=op.f("fk_bookmark_tag_tag_id_tag"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user.id"], name=op.f("fk_bookmark_tag_user_id_user"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bookmark_tag")),
        sa.UniqueConstraint(
            "bookmark_id", "tag_id", name=op.f("uq_bookmark_tag_bookmark_id_tag_id")
        ),
    )
    with op.batch_alter_table("bookmark_tag", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_bookmark_tag_tag_id"), ["tag_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_bookmark_tag_user_id"), ["user_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("bookmark_tag", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bookmark_tag_user_id"))
        batch_op.drop_index(batch_op.f("ix_bookmark_tag_tag_id"))

    op.drop_table("bookmark_tag")
    with op.batch_alter_table("rating", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_rating_user_id_rating_rated_at_rating_public_id"))
        batch_op.drop_index(batch_op.f("ix_rating_user_id"))
        batch_op.drop_index(batch_op.f("ix_rating_paper_id"))

    op.drop_table("rating")
    with op.batch_alter_table("paper_identifier", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_paper_identifier_paper_id"))

    op.drop_table("paper_identifier")
    op.drop_table("paper_author")
    with op.batch_alter_table("interaction", schema=None) as batch_op:
        batch_op.drop_index(
            batch_op.f("ix_interaction_user_id_interaction_paper_id_interaction_kind")
        )
        batch_op.drop_index(batch_op.f("ix_interaction_user_id"))
        batch_op.drop_index(batch_op.f("ix_interaction_paper_id"))

    op.drop_table("interaction")
    with op.batch_alter_table("impression", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_impression_user_id"))
        batch_op.drop_index(batch_op.f("ix_impression_paper_id"))

    op.drop_table("impression")
    with op.batch_alter_table("import_row", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_import_row_user_id"))
        batch_op.drop_index(batch_op.f("ix_import_row_paper_id"))

    op.drop_table("import_row")
    with op.batch_alter_table("dismissal", schema=None) as batch_op:
        batch_op.drop_index(
            batch_op.f("ix_dismissal_user_id_dismissal_dismissed_at_dismissal_public_id")
        )
        batch_op.drop_index(batch_op.f("ix_dismissal_user_id"))
        batch_op.drop_index(batch_op.f("ix_dismissal_paper_id"))

    op.drop_table("dismissal")
    with op.batch_alter_table("bookmark", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_bookmark_user_id_bookmark_saved_at_bookmark_public_id"))
        batch_op.drop_index(batch_op.f("ix_bookmark_user_id_bookmark_library_version"))
        batch_op.drop_index(batch_op.f("ix_bookmark_user_id"))
        batch_op.drop_index(batch_op.f("ix_bookmark_paper_id"))

    op.drop_table("bookmark")
    with op.batch_alter_table("tag", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_tag_user_id"))

    op.drop_table("tag")
    with op.batch_alter_table("slate", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_slate_user_id"))

    op.drop_table("slate")
    with op.batch_alter_table("paper", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_paper_work_id"))
        batch_op.drop_index(batch_op.f("ix_paper_catalogue_version"))
        batch_op.drop_index(batch_op.f("ix_paper_added_at_paper_public_id"))

    op.drop_table("paper")
    with op.batch_alter_table("library_deletion", schema=None) as batch_op:
        batch_op.drop_index(
            batch_op.f("ix_library_deletion_user_id_library_deletion_library_version")
        )
        batch_op.drop_index(batch_op.f("ix_library_deletion_user_id"))

    op.drop_table("library_deletion")
    with op.batch_alter_table("import", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_import_user_id_import_created_at_import_public_id"))
        batch_op.drop_index(batch_op.f("ix_import_user_id"))

    op.drop_table("import")
    with op.batch_alter_table("idempotency_key", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_idempotency_key_user_id"))
        batch_op.drop_index(batch_op.f("ix_idempotency_key_created_at"))

    op.drop_table("idempotency_key")
    with op.batch_alter_table("audit_entry", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_audit_entry_at"))
        batch_op.drop_index(batch_op.f("ix_audit_entry_actor_id"))

    op.drop_table("audit_entry")
    with op.batch_alter_table("api_token", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_api_token_user_id"))

    op.drop_table("api_token")
    with op.batch_alter_table("work", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_work_catalogue_version"))

    op.drop_table("work")
    op.drop_table("user")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_job_state_job_run_after"))

    op.drop_table("job")
    op.drop_table("failed_login")
    op.drop_table("catalogue_state")
