"""Pictures: functions from a tidy table to a chart, two libraries that draw charts, and one look for all of them."""
