"""Reports of studies: a page that needs no other file, and a table for the terminal."""
