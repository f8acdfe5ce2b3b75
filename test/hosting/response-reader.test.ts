import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BadResponse,
  createResponseReader,
  type ResponseHead,
} from '../../runtime/hosting/ingress/response-reader.ts';

interface Seen {
  readonly heads: ResponseHead[];
  readonly interim: ResponseHead[];
  readonly partial: boolean;
  text: string;
  ends: number;
  readonly reusable: boolean;
  readonly idle: boolean;
}

/** Reads one answer, in pieces of a size, and then the connection's end when it is asked for. */
function read(
  answer: string | Buffer,
  { method = 'GET', size = Number.MAX_SAFE_INTEGER, end = false } = {},
): Seen {
  const reader = createResponseReader();
  const data = typeof answer === 'string' ? Buffer.from(answer, 'latin1') : answer;
  const seen = { heads: [] as ResponseHead[], interim: [] as ResponseHead[], text: '', ends: 0 };
  reader.begin(method, {
    onInterim: (head) => void seen.interim.push(head),
    onHead: (head) => void seen.heads.push(head),
    onBody(part, last) {
      seen.text += part.toString('latin1');
      if (last) seen.ends += 1;
    },
    onEnd: () => void (seen.ends += 1),
  });
  for (let at = 0; at < data.length; at += size) reader.push(data.subarray(at, at + size));
  if (end) reader.finish();
  return { ...seen, reusable: reader.reusable(), idle: reader.idle(), partial: reader.partial() };
}

const good: [
  string,
  string,
  Partial<Parameters<typeof read>[1]>,
  { status: number; text: string; reusable: boolean },
][] = [
  [
    'a length',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
    {},
    { status: 200, text: 'hello', reusable: true },
  ],
  [
    'no body',
    'HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n',
    {},
    { status: 201, text: '', reusable: true },
  ],
  [
    'no reason',
    'HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok',
    {},
    { status: 200, text: 'ok', reusable: true },
  ],
  [
    'chunks',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;ext=1\r\n, world !!\r\n0\r\n\r\n',
    {},
    { status: 200, text: 'hello, world !!', reusable: true },
  ],
  [
    'chunks with extensions',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b;c="d \\" e";f\r\nok\r\n0;g\r\n\r\n',
    {},
    { status: 200, text: 'ok', reusable: true },
  ],
  [
    'chunks and a trailer',
    'HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n1\r\nx\r\n000\r\nX-Sum: 1\r\n\r\n',
    {},
    { status: 200, text: 'x', reusable: true },
  ],
  [
    'the end of the connection',
    'HTTP/1.1 200 OK\r\nX: y\r\n\r\nall of it',
    { end: true },
    { status: 200, text: 'all of it', reusable: false },
  ],
  [
    'HTTP/1.0',
    'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok',
    {},
    { status: 200, text: 'ok', reusable: false },
  ],
  [
    'HTTP/1.0 that is kept',
    'HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok',
    {},
    { status: 200, text: 'ok', reusable: true },
  ],
  [
    'a close',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    {},
    { status: 200, text: 'ok', reusable: false },
  ],
  [
    'HEAD, with the length that there would be',
    'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n',
    { method: 'HEAD' },
    { status: 200, text: '', reusable: true },
  ],
  [
    '304',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n',
    {},
    { status: 304, text: '', reusable: true },
  ],
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', {}, { status: 204, text: '', reusable: true }],
  [
    'hints before it',
    'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
    {},
    { status: 200, text: 'ok', reusable: true },
  ],
];

const sized = (headers: string, body = 'ok') => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
const bad: [string, string][] = [
  ['no HTTP', 'SSH-2.0-OpenSSH_9\r\n\r\n\r\n'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['HTTP/0.9', 'hello world\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
  ['a status that is none', 'HTTP/1.1 999 OK\r\n\r\n'],
  ['a line before it', '\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'],
  ['line ends of one byte', 'HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n'],
  ['a line end of one byte among others', sized('Content-Length: 2\nX: y')],
  ['a carriage return in a value', sized('X: a\rb\r\nContent-Length: 2')],
  ['a NUL in a value', sized('X: a\0b\r\nContent-Length: 2')],
  ['a folded header', sized('X: a\r\n b\r\nContent-Length: 2')],
  ['a space before the colon', sized('Content-Length : 2')],
  ['a header without a name', sized(': x\r\nContent-Length: 2')],
  ['a header without a colon', sized('nonsense\r\nContent-Length: 2')],
  ['two lengths', sized('Content-Length: 2\r\nContent-Length: 3')],
  ['the same length twice', sized('Content-Length: 2\r\nContent-Length: 2')],
  ['a list of lengths', sized('Content-Length: 2, 2')],
  ['a negative length', sized('Content-Length: -2')],
  ['a length with a sign', sized('Content-Length: +2')],
  ['a length in hex', sized('Content-Length: 0x2')],
  ['an empty length', sized('Content-Length: ')],
  ['a length beyond numbers', sized('Content-Length: 99999999999999999999')],
  [
    'a length and chunks',
    sized('Content-Length: 2\r\nTransfer-Encoding: chunked', '2\r\nok\r\n0\r\n\r\n'),
  ],
  ['another coding', sized('Transfer-Encoding: gzip, chunked', '2\r\nok\r\n0\r\n\r\n')],
  [
    'chunks twice',
    sized('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', '2\r\nok\r\n0\r\n\r\n'),
  ],
  ['chunks in HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['a chunk without a size', sized('Transfer-Encoding: chunked', '\r\nok\r\n0\r\n\r\n')],
  ['a chunk of a negative size', sized('Transfer-Encoding: chunked', '-2\r\nok\r\n0\r\n\r\n')],
  ['an extension that is none', sized('Transfer-Encoding: chunked', '2;x=y w\r\nok\r\n0\r\n\r\n')],
  ['an extension without a name', sized('Transfer-Encoding: chunked', '2;=y\r\nok\r\n0\r\n\r\n')],
  ['a space after a size', sized('Transfer-Encoding: chunked', '2 \r\nok\r\n0\r\n\r\n')],
  ['a space in an extension', sized('Transfer-Encoding: chunked', '2; x=y\r\nok\r\n0\r\n\r\n')],
  ['a chunk of 0x2', sized('Transfer-Encoding: chunked', '0x2\r\nok\r\n0\r\n\r\n')],
  [
    'a chunk of too many digits',
    sized('Transfer-Encoding: chunked', '00000000000000002\r\nok\r\n0\r\n\r\n'),
  ],
  ['a chunk longer than it says', sized('Transfer-Encoding: chunked', '1\r\nok\r\n0\r\n\r\n')],
  ["a chunk's line without end", sized('Transfer-Encoding: chunked', `1;${'x'.repeat(5000)}`)],
  ['a head without end', `HTTP/1.1 200 OK\r\n${'X: y\r\n'.repeat(20_000)}`],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'],
  ['more than was asked for', `${sized('Content-Length: 2')}HTTP/1.1 200 OK\r\n\r\n`],
  ['a byte more', sized('Content-Length: 2', 'ok!')],
];

describe('the reader of answers', () => {
  it.each(good)('reads %s, however it is cut', (_, answer, options, expected) => {
    for (const size of [1, 2, 3, 7, 4096]) {
      const { heads, text, ends, reusable, idle } = read(answer, { ...options, size });
      expect(
        [heads.map(({ status }) => status), text, ends, reusable, idle],
        `cut at ${size}`,
      ).toEqual([[expected.status], expected.text, 1, expected.reusable, true]);
    }
  });

  it.each(bad)('refuses %s, however it is cut', (_, answer) => {
    for (const size of [1, 5, 1_000_000])
      expect(() => read(answer, { size }), `cut at ${size}`).toThrow(BadResponse);
  });

  it.each([
    ['before the head', 'HTTP/1.1 200 OK\r\nContent-'],
    ['in the body', sized('Content-Length: 5', 'he')],
    ['in a chunk', sized('Transfer-Encoding: chunked', '5\r\nhe')],
    ['before the last chunk', sized('Transfer-Encoding: chunked', '2\r\nhe\r\n')],
    ['in a trailer', sized('Transfer-Encoding: chunked', '0\r\nX: y\r\n')],
  ])('says when the connection ends %s', (_, answer) => {
    expect(() => read(answer, { end: true })).toThrow(BadResponse);
  });

  it.each([
    ['no HTTP', 'SSH-2'],
    ['a bare LF in the first line', 'HTTP/1.1 200 OK\n'],
    ['a bare LF in a header', 'HTTP/1.1 200 OK\r\nX: y\n'],
    ['a bare LF at the end of the head', 'HTTP/1.1 200 OK\r\nX: y\r\n\n'],
    ['a bare CR', 'HTTP/1.1 200 OK\r\nX: a\rb'],
    ['a control byte in the reason', 'HTTP/1.1 200 O\x01K'],
    ['a NUL', 'HTTP/1.1 200 OK\r\nX\0'],
    ['no size of a chunk', sized('Transfer-Encoding: chunked', 'x')],
    ['a bare LF after a size', sized('Transfer-Encoding: chunked', '2\n')],
    ['a chunk that goes on', sized('Transfer-Encoding: chunked', '2\r\nokk')],
  ])('refuses %s when it comes, although the line does not end', (_, answer) => {
    for (const size of [1, 5, 1_000_000])
      expect(() => read(answer, { size }), `cut at ${size}`).toThrow(BadResponse);
  });

  it.each([
    ['half a head', 'HTTP/1.1 200 OK\r\nX: '],
    ['half a size', sized('Transfer-Encoding: chunked', '5')],
    ['a chunk without its line end', sized('Transfer-Encoding: chunked', '2\r\nok')],
    ['half a trailer', sized('Transfer-Encoding: chunked', '0\r\n')],
  ])('says of %s that its end has to come at once', (_, answer) => {
    for (const size of [1, 1_000_000]) expect(read(answer, { size }).partial).toBe(true);
  });

  it('passes every byte of a value as it came, without the blanks around it', () => {
    const bytes = Buffer.from('v\u00e0 \u00a0', 'utf8').toString('latin1');
    const { heads } = read(sized(`X:\t ${bytes} \t\r\nContent-Length: 2`));
    expect(heads[0]?.headers.slice(0, 2)).toEqual(['X', bytes]);
  });

  it('gives 204 no length, and interim answers out before the answer', () => {
    const { heads, interim } = read(
      'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\nContent-Length: 20\r\nX: y\r\n\r\n',
    );
    expect(interim.map(({ status, headers }) => [status, ...headers])).toEqual([
      [103, 'Link', '</x>'],
    ]);
    expect(heads.map(({ status, headers }) => [status, ...headers])).toEqual([[204, 'X', 'y']]);
    expect(() => read('HTTP/1.1 102 Processing\r\n\r\n'.repeat(40))).toThrow(BadResponse);
  });

  it('keeps what belongs to the connection to itself', () => {
    const { heads } = read(
      sized(
        'Connection: close, X-Hop\r\nKeep-Alive: timeout=5\r\nX-Hop: 1\r\nx-own: a  \r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2',
      ),
    );
    expect(heads[0]?.headers).toEqual([
      'x-own',
      'a',
      'Set-Cookie',
      'a=1',
      'Set-Cookie',
      'b=2',
      'Content-Length',
      '2',
    ]);
  });

  it('reads a body of any bytes in any chunks as it was, and nothing after it', () => {
    const part = fc.uint8Array({ minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(
        fc.array(part, { maxLength: 8 }),
        fc.integer({ min: 1, max: 700 }),
        fc.boolean(),
        (parts, size, inChunks) => {
          const body = Buffer.concat(parts);
          const head = (text: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${text}\r\n\r\n`);
          const chunks = parts.flatMap((data) => [
            Buffer.from(`${data.length.toString(16)}\r\n`),
            Buffer.from(data),
            Buffer.from('\r\n'),
          ]);
          const answer = inChunks
            ? Buffer.concat([
                head('Transfer-Encoding: chunked'),
                ...chunks,
                Buffer.from('0\r\n\r\n'),
              ])
            : Buffer.concat([head(`Content-Length: ${body.length}`), body]);
          const { text, ends } = read(answer, { size });
          expect([Buffer.from(text, 'latin1').equals(body), ends]).toEqual([true, 1]);
          expect(() => read(Buffer.concat([answer, Buffer.from('x')]), { size })).toThrow(
            BadResponse,
          );
        },
      ),
      { numRuns: 300 },
    );
  });
});
