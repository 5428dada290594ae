"""Keeps runs off nodes that others use: samples the idle node, asks who is on it, and holds orders back."""
