"""Level `app`: functions of applications that ask cognitive services (Keeper)."""
