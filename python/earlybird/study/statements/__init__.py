"""What is stated, tested with the numbers of the runs."""
