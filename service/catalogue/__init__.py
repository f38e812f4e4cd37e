"""What exists: how a paper's text, links and display title are read."""
