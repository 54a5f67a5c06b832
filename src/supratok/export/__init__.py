"""A tokenizer as other programs read it: functions of a `Tokenizer`, one file a format."""
