"""Files written whole or not at all: archives, JSON, tables, and checks of what is read."""
