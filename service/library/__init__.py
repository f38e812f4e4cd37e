"""What a person keeps: saved, rated, tagged and dismissed papers."""
