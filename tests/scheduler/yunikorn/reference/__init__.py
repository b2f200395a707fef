"""YuniKorn's decisions the slow way: the text taken word for word, nothing kept."""
