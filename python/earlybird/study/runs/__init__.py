"""The runs that a study asks for: listed, made, and what they cost."""
