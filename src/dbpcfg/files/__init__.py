"""Files, whole or not at all: archives, JSON, tables, and checks of what strangers wrote."""
