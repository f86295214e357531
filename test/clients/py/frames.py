"""Frames between the Go test and the Python clients; see python_test.go."""
import struct
import sys


def read_all():
    """Yields (partition, key, value, headers) from standard input."""
    data, at = sys.stdin.buffer.read(), 0

    def sized():
        nonlocal at
        (n,) = struct.unpack_from(">i", data, at)
        at += 4 + n
        return data[at - n : at]

    while at < len(data):
        partition, _ = struct.unpack_from(">iq", data, at)
        at += 12
        key, value = sized(), sized()
        (count,) = struct.unpack_from(">i", data, at)
        at += 4
        headers = []
        for _ in range(count):
            name = sized().decode()
            headers.append((name, sized()))
        yield partition, key, value, headers


def write(out, partition, offset, key, value, headers):
    """Writes one record that was read."""
    key, value = key or b"", value or b""
    parts = [struct.pack(">iqi", partition, offset, len(key)), key, struct.pack(">i", len(value)), value, struct.pack(">i", len(headers))]
    for name, content in headers:
        name, content = name.encode(), content or b""
        parts += [struct.pack(">i", len(name)), name, struct.pack(">i", len(content)), content]
    out.write(b"".join(parts))
