"""Slow, independent reference implementations that the engines are held against."""
