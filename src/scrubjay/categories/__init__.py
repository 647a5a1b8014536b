"""Categories: topics by content and folders by place."""
