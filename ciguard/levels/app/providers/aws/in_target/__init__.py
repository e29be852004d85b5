"""Runs inside the application's interpreter, beside boto3."""
