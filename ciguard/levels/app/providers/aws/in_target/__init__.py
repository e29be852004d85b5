"""Modules that run inside the application's interpreter, in place of boto3's connections."""
