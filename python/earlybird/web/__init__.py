"""`earlybird web`: a local page that asks for a film and a line, and shows the plan."""
