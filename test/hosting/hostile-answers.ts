/** An app's answer, and what the app does when it has written it. */
export interface HostileAnswer {
  readonly name: string;
  readonly bytes: Buffer;
  /** Sizes of the pieces in which it is written, by turns. */
  readonly cuts: readonly number[];
  readonly afterwards: 'end' | 'reset' | 'stall';
}

const sized = (headers: string, body = 'ok') => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
const chunked = (body: string) => sized('Transfer-Encoding: chunked', body);

/** Answers that people have seen or thought of; each is sent whole, byte by byte, and with each end. */
const BY_HAND: readonly (readonly [name: string, text: string])[] = [
  ['a control byte in the reason', 'HTTP/1.1 200 O\x01K\r\nContent-Length: 20\r\n\r\nshort'],
  ['a DEL in the reason', 'HTTP/1.1 200 O\x7fK\r\nContent-Length: 2\r\n\r\nok'],
  ['a control byte in a value', sized('X: a\x01b\r\nContent-Length: 20', 'short')],
  ['a NUL in a name', sized('X\0Y: a\r\nContent-Length: 2')],
  ['a bare LF after each line', 'HTTP/1.1 200 OK\nContent-Length: 2\n\nok'],
  ['a bare CR after each line', 'HTTP/1.1 200 OK\rContent-Length: 2\r\rok'],
  ['a bare LF at the end of the head', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\nok'],
  ['half a status line', 'HTTP/1.1 20'],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Len'],
  ['one byte', 'H'],
  ['one wrong byte', 'X'],
  ['nothing', ''],
  ['an empty line', '\r\n'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['a TLS alert', '\x15\x03\x01\x00\x02\x02\x46'],
  ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
  ['another version', 'HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['a status of 4 digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
  ['a status of 999', 'HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\nok'],
  ['a short body', sized('Content-Length: 100', 'short')],
  ['a long body', sized('Content-Length: 2', 'far too long')],
  ['two answers', sized('Content-Length: 2') + sized('Content-Length: 2')],
  ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 20\r\n\r\n'],
  ['204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok'],
  ['304 with a body', 'HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok'],
  ['interim answers only', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)],
  ['interim answers without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500)],
  [
    'an interim answer with control bytes',
    'HTTP/1.1 103 E\x02\r\n\r\n' + sized('Content-Length: 2'),
  ],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n'],
  ['a length and chunks', sized('Content-Length: 2\r\nTransfer-Encoding: chunked', '0\r\n\r\n')],
  ['a chunk of no size', chunked('\r\nok\r\n0\r\n\r\n')],
  ['a chunk with a bare LF', chunked('2\nok\n0\n\n')],
  ['a chunk longer than its size', chunked('1\r\nok\r\n0\r\n\r\n')],
  ['a chunk shorter than its size', chunked('5\r\nok\r\n0\r\n\r\n')],
  ['a chunk size that does not end', chunked('5')],
  ['a last chunk that does not end', chunked('2\r\nok\r\n0\r\n')],
  ['a trailer that does not end', chunked('2\r\nok\r\n0\r\nX: y')],
  ['a trailer with bare LF', chunked('2\r\nok\r\n0\r\nX: y\n\n')],
  ['a head of 100 KB', `HTTP/1.1 200 OK\r\n${'X: yyyyyyyyyyyyyyyy\r\n'.repeat(5000)}`],
  ['a header without a colon', sized('nonsense\r\nContent-Length: 2')],
  ['a folded header', sized('X: a\r\n b\r\nContent-Length: 2')],
  ['a value in UTF-8', sized('X: v\xc3\xa0\r\nContent-Length: 2')],
  ['a reason in UTF-8', 'HTTP/1.1 200 D\xc3\xa0\r\nContent-Length: 2\r\n\r\nok'],
];

const VALID: readonly string[] = [
  sized('Content-Length: 2'),
  sized(
    'Content-Type: text/plain\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d\r\nContent-Length: 5',
    'hello',
  ),
  sized('Connection: close', 'until the end'),
  chunked('5\r\nhello\r\n3;x=y\r\n, w\r\n0\r\n\r\n'),
  chunked('2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n'),
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
  'HTTP/1.0 200 OK\r\n\r\nold',
  `HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${sized('Content-Length: 2')}`,
  'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n',
];

/** Bytes that mean something in HTTP, or must not stand in it. */
const SPECIAL = [
  '\r',
  '\n',
  '\r\n',
  '\n\n',
  '\0',
  '\x01',
  '\x7f',
  '\x80',
  '\xff',
  ':',
  ' ',
  '\t',
  ';',
  ',',
];
const ENDS = ['end', 'reset', 'stall'] as const;

/** The numbers of a seed, each from 0 to below `limit`: the same for the same seed. */
export function numbersOf(seed: number): (limit: number) => number {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** Those by hand, and then changed valid ones until there are `count`. */
export function hostileAnswers(count: number, seed: number): HostileAnswer[] {
  const number = numbersOf(seed);
  const byHand = BY_HAND.flatMap(([name, text]) =>
    ENDS.flatMap((afterwards) =>
      [[1_000_000], [1]].map((cuts) => ({
        ...{ name: `${name}, ${afterwards}`, afterwards },
        ...{ bytes: Buffer.from(text, 'latin1'), cuts: text.length > 500 ? [1_000_000] : cuts },
      })),
    ),
  );
  const fuzzed = Array.from({ length: Math.max(0, count - byHand.length) }, (_, index) => {
    let text = VALID[number(VALID.length)] as string;
    for (let times = number(3) + 1; times > 0; times -= 1) text = mutate(text, number);
    return {
      ...{ name: `fuzzed ${index}`, bytes: Buffer.from(text, 'latin1') },
      ...{ cuts: [[1_000_000], [1], [7, 2], [40, 1]][number(4)] as number[] },
      afterwards: ENDS[number(3)] as HostileAnswer['afterwards'],
    };
  });
  return [...byHand, ...fuzzed].slice(0, count);
}

function mutate(text: string, number: (limit: number) => number): string {
  const at = number(text.length + 1);
  const length = number(6) + 1;
  const [before, after] = [text.slice(0, at), text.slice(at)];
  const special = SPECIAL[number(SPECIAL.length)] as string;
  switch (number(7)) {
    case 0:
      return before + special + after;
    case 1:
      return before + special + after.slice(1);
    case 2:
      return before + after.slice(length);
    case 3:
      return before + text.slice(at, at + length * 4) + after;
    case 4:
      return before;
    case 5:
      return text.replaceAll('\r\n', number(2) ? '\n' : '\r');
    default:
      return before + String.fromCharCode(number(256)) + after.slice(1);
  }
}
