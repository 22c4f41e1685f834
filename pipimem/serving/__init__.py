"""What servers share: addresses, who may ask, the token, open streams, the end by a signal."""
