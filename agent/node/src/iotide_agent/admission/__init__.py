"""The admission check: samples the idle node, asks who else uses it, and starts, holds back or rejects orders."""
