"""What happened: the events kept on this machine, the endpoint that takes them in, and what can be read from them."""
