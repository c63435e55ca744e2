"""Who answers: any model behind one interface, asked in few large calls."""
