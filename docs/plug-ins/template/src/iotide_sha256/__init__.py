"""sha256 for iotide: a workload that reads and hashes a file, and a probe of the kernel's read-ahead."""
