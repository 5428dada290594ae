"""What tells how the service itself is: metrics for Prometheus and the doctor's findings."""
