"""The other side of a transfer, over this machine's TCP: says the SHA-256 of its bytes, and what it sent again."""

import hashlib
import os
import socket
import struct
import sys

role, host, port, megabytes, control = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
family = socket.AF_INET6 if ":" in host else socket.AF_INET
digest = hashlib.sha256()
peer = socket.socket(family, socket.SOCK_STREAM)
if role == "read":
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    peer.bind((host, port))
    peer.listen()
    print("ready", flush=True)
    peer, _ = peer.accept()
    while block := peer.recv(1 << 18):
        digest.update(block)
else:
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
    peer.connect((host, port))
    for _ in range(megabytes):
        block = os.urandom(1_000_000)
        digest.update(block)
        peer.sendall(block)
    peer.shutdown(socket.SHUT_WR)
    while peer.recv(1000):
        pass
# `tcpi_total_retrans` of `struct tcp_info` stands behind eight bytes and 23 numbers.
repeated = struct.unpack_from("I", peer.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256), 100)[0]
print(digest.hexdigest(), repeated, flush=True)
