"""Monitoring of iotide itself: metrics for Prometheus and the doctor's findings."""
