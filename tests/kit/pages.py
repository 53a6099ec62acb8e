# SPDX-License-Identifier: MIT
"""pages.py - what the tests of pages over HTTP send."""
import socket

from programs import PATIENCE

TOKEN = "0123456789abcdef-token"
MARKUP = "<img src=x onerror='document.title=`hacked`'>\"&\u202e"


def connect(address):
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=PATIENCE)


def exchange(connection, method, path, body, token, headers):
    """The answer to one request, and its text. The names of `headers` have _ where HTTP has -."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    if token:
        fields["Authorization"] = "Bearer " + token
    connection.request(method, path, body, fields)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text
