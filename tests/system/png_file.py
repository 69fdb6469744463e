# SPDX-License-Identifier: MIT
"""Reads PNG and APNG files, and believes nothing: as pngcheck, and the pixels."""
import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunks(data):
    """(name, bytes) of each chunk of a file; its CRCs hold, nothing is behind it."""
    assert data.startswith(SIGNATURE)
    found, at = [], len(SIGNATURE)
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        body = data[at + 8:at + 8 + size]
        crc, = struct.unpack_from(">I", data, at + 8 + size)
        assert len(body) == size and crc == zlib.crc32(name + body), name
        found.append((name, body))
        at += 12 + size
    names = [name for name, _ in found]
    assert names[0] == b"IHDR" and names.index(b"IEND") == len(names) - 1
    return found


def rows_of(packed, width, height):
    """The rows of 8-bit RGB in a zlib stream, filter 0 alone."""
    raw = zlib.decompress(packed)
    step = 1 + 3 * width
    assert len(raw) == step * height
    assert not any(raw[::step]), "a filter"
    return [bytearray(raw[y * step + 1:(y + 1) * step]) for y in range(height)]


def size_of(header):
    width, height, *form = struct.unpack(">IIBBBBB", header)
    assert form == [8, 2, 0, 0, 0], form
    return width, height


def read_png(data):
    """The rows of a picture."""
    found = chunks(data)
    packed = b"".join(body for name, body in found if name == b"IDAT")
    return rows_of(packed, *size_of(found[0][1]))


def read_apng(data):
    """Every frame as it is shown, and how many milliseconds."""
    found = chunks(data)
    width, height = size_of(found[0][1])
    assert found[1][0] == b"acTL"
    promised, plays = struct.unpack(">II", found[1][1])
    assert plays == 0
    frames, sequence = [], 0
    for name, body in found[2:-1]:
        if name in (b"fcTL", b"fdAT"):
            assert struct.unpack_from(">I", body) == (sequence,)
            sequence += 1
        if name == b"fcTL":
            frames.append((struct.unpack(">IIIIHHBB", body[4:]), bytearray()))
        elif name == b"IDAT":
            assert len(frames) == 1
            frames[0][1].extend(body)
        else:
            assert name == b"fdAT" and len(frames) > 1, name
            frames[-1][1].extend(body[4:])
    assert len(frames) == promised
    shown, canvas = [], None
    for (w, h, x, y, num, den, dispose, blend), packed in frames:
        assert x + w <= width and y + h <= height and (dispose, blend) == (0, 0)
        rows = rows_of(bytes(packed), w, h)
        if canvas is None:
            assert (w, h, x, y) == (width, height, 0, 0)
            canvas = rows
        for i, row in enumerate(rows):
            canvas[y + i][3 * x:3 * (x + w)] = row
        shown.append(([bytearray(row) for row in canvas], 1000 * num // den))
    return shown


def cells_of(rows, scale):
    """The colours of the cells, each SCALE x SCALE pixels of one colour."""
    cells = []
    for y in range(0, len(rows), scale):
        assert all(row == rows[y] for row in rows[y:y + scale])
        pixels = [bytes(rows[y][x:x + 3]) for x in range(0, len(rows[y]), 3)]
        cells.append(pixels[::scale])
        assert [p for p in cells[-1] for _ in range(scale)] == pixels
    return cells
