"""Text and plots made from results; nothing is computed here."""
