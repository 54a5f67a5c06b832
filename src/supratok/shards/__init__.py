"""A corpus becomes shards: files of ids that trainers read. May import: learn and below."""
