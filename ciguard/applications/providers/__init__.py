"""What cognitive services offer, as data: clients, operations, the fields of their answers."""
