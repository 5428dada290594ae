"""iotide's server: API, scheduler and Celery worker on one PostgreSQL."""
