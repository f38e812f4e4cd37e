"""What a person calls their interests and how much each is to count."""
