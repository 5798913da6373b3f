"""What the files of a study may say: read, checked, and named in words."""
