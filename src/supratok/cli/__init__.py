"""The command `supratok`, one file a verb. May import: every room."""
