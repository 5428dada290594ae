"""Makes the files of a release from a commit: docs/releasing.md."""
