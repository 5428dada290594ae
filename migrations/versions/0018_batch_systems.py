"""how a cluster's runs are started, gateways of batch systems, and the jobs that they submit"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("cluster", sa.Column("launcher", sa.String(), server_default="direct", nullable=False))
    op.create_check_constraint(op.f("ck_cluster_launcher"), "cluster", "launcher IN ('direct', 'slurm', 'lsf')")
    op.drop_constraint(op.f("ck_node_role"), "node", type_="check")
    op.create_check_constraint(op.f("ck_node_role"), "node", "role IN ('compute', 'storage', 'gateway')")
    attempt = sa.ForeignKey("attempt.id", name=op.f("fk_batch_job_attempt_id"), ondelete="CASCADE")
    cluster = sa.ForeignKey("cluster.id", name=op.f("fk_batch_job_cluster_id"), ondelete="CASCADE")
    op.create_table(
        "batch_job",
        sa.Column("attempt_id", sa.BigInteger(), attempt, autoincrement=False, nullable=False),
        sa.Column("cluster_id", sa.BigInteger(), cluster, nullable=False),
        sa.Column("system", sa.String(), nullable=False),
        sa.Column("state", sa.String(), server_default="wanted", nullable=False),
        sa.Column("job_id", sa.String(), nullable=True),
        sa.Column("ending", sa.String(), nullable=True),
        sa.Column("words", sa.String(), server_default="", nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("is_over", sa.Boolean(), server_default="false", nullable=False),
        sa.CheckConstraint("system IN ('slurm', 'lsf')", name=op.f("ck_batch_job_system")),
        sa.CheckConstraint("state IN ('wanted', 'pending', 'running', 'ended')", name=op.f("ck_batch_job_state")),
        sa.PrimaryKeyConstraint("attempt_id", name=op.f("pk_batch_job")),
    )
    op.create_index("ix_batch_job_open", "batch_job", ["cluster_id"], postgresql_where=sa.text("NOT is_over"))


def downgrade() -> None:
    op.drop_table("batch_job")
    op.drop_constraint(op.f("ck_node_role"), "node", type_="check")
    op.create_check_constraint(op.f("ck_node_role"), "node", "role IN ('compute', 'storage')")
    op.drop_constraint(op.f("ck_cluster_launcher"), "cluster", type_="check")
    op.drop_column("cluster", "launcher")
