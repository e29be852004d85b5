"""Level `graph`: programs of several calls, compiled and compared with eager execution."""
