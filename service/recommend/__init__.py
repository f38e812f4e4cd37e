"""The only door to ``models/``: what people did goes in as arrays, papers come out."""
