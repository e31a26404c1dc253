"""The editor's end of the wire: a completer over HTTP/2. Knows the protocol, and neither LSP nor any model."""
