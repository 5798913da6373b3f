"""What each run showed about the flows that a study observes, as a few numbers."""
