"""Tests of commands as a user types them."""
