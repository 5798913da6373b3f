"""Real players over this machine's TCP and emulated links: the papers' test bed on one machine."""
