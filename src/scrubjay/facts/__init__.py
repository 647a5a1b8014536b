"""Facts: extract lasting statements from turns and detect conflicts between them."""
