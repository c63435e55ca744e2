"""Who answers: any model behind one face, asked in few large calls."""
