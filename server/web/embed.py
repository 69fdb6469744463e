#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Turn openapi.json into C: embed.py OUT.c VERSION FILE. It must be JSON."""
import json
import sys


def main():
    out, version, path = sys.argv[1:]
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    document['info']['version'] = version
    data = json.dumps(document, separators=(',', ':')).encode()
    rows = (data[i:i + 16] for i in range(0, len(data), 16))
    text = '\n'.join('\t' + ' '.join(f'{b},' for b in row) for row in rows)
    with open(out, 'w', encoding='ascii') as file:
        file.write('/* Made by embed.py. */\n'
                   '#include "server/web/web_internal.h"\n\n'
                   f'const char web_openapi[] = {{\n{text}\n}};\n'
                   'const size_t web_openapi_len = sizeof(web_openapi);\n')


main()
