"""The language of a study's files: reading, checking, names."""
