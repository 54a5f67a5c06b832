"""Claims, measured. May import: everything but cli; nothing imports it but cli."""
