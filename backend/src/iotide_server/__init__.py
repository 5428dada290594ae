"""iotide's server: the API, the scheduler and the Celery worker over one PostgreSQL."""
