"""sha256 for iotide: a workload that reads and hashes a file, and a probe that tells how far the kernel reads ahead."""
