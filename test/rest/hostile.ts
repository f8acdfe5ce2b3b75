import assert from 'node:assert/strict';
import net from 'node:net';
import type { Random } from '../graphql/random-schema.ts';

/** One request as it goes over the wire. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly body: string;
}

export interface WireAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const TEXTS = [
  '',
  ' ',
  'x',
  "'",
  '"',
  '\\',
  '%',
  '_',
  '--',
  "'; drop table posts; --",
  '\u0000',
  'a\u0000b',
  '\ud83d\ude00',
  '\u202e',
  '\ufeff',
  'é',
  'e\u0301',
  '\r\n',
  '\t',
  '\u007f',
  'null',
  'NaN',
  'true',
  '[object Object]',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '$where',
  '${1}',
  '{{1}}',
  '<script>',
  '../../etc/passwd',
  'x'.repeat(300),
  '🏳️‍🌈'.repeat(20),
  ',',
  ',,',
  'a,b',
  '.',
  '..',
  'a.b',
  '*',
] as const;
const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '1.5',
  '1e3',
  '1e400',
  '-1e400',
  '2147483647',
  '2147483648',
  '-2147483649',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '99999999999999999999999999',
  '0x10',
  '01',
  '+1',
  ' 1',
  '1 ',
  '١',
  'Infinity',
] as const;
const TIMES = [
  '2026-02-30',
  '0000-00-00',
  '2026-01-01T25:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '-000001-01-01T00:00:00Z',
  '2026-01-01',
  '12:00',
  '1970-01-01T00:00:00+99:99',
  '9999-12-31T23:59:60Z',
] as const;
const ESCAPES = [
  '%',
  '%0',
  '%zz',
  '%00',
  '%E0%A4%A',
  '%ff',
  '%C0%80',
  '%ED%A0%80',
  '%2e%2e',
  '%2F',
  '%25',
  '+',
  ';',
  '=',
  '&',
  '[]',
  '[a]=1',
  '{}',
  '#',
] as const;
const MODULES = [
  'posts',
  'authors',
  'comments',
  'tags',
  'nope',
  '__proto__',
  'constructor',
  'openapi.json',
  'POSTS',
  'posts%2F1',
  'post',
] as const;
const FIELDS = [
  'id',
  'title',
  'status',
  'views',
  'score',
  'published',
  'subtitle',
  'price',
  'hits',
  'day',
  'words',
  'author',
  'authorId',
  'comments',
  'tags',
  'tagIds',
  'createdAt',
  'updatedAt',
  'name',
  'email',
  'age',
  'home',
  'text',
  'postId',
  'label',
  '__proto__',
  'constructor',
  'toString',
  '__typename',
  'input',
] as const;
const OPERATORS = [
  '',
  '_eq',
  '_ne',
  '_in',
  '_notIn',
  '_gt',
  '_gte',
  '_lt',
  '_lte',
  '_contains',
  '_startsWith',
  '_endsWith',
  '_isNull',
  '_like',
  '_',
  '__',
  '[eq]',
  '.eq',
] as const;
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'application/merge-patch+json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json;;;',
  '',
  'json',
  'application/JSON',
  'application/json; charset=',
] as const;

/** A request that nobody means well with, over the modules of the blog: noise, or almost right. */
export const hostileRequest = (random: Random): HostileRequest =>
  random.chance(0.5) ? nearRequest(random) : noise(random);

const SHAPES: Readonly<Record<string, readonly string[]>> = {
  posts: [
    'title',
    'status',
    'views',
    'score',
    'published',
    'subtitle',
    'price',
    'hits',
    'day',
    'words',
    'authorId',
    'tagIds',
  ],
  authors: ['name', 'email', 'age', 'home'],
  comments: ['text', 'postId'],
  tags: ['label'],
};
const COLUMNS = [
  'id',
  'title',
  'status',
  'views',
  'score',
  'published',
  'subtitle',
  'price',
  'hits',
  'day',
  'authorId',
  'createdAt',
] as const;
const GOOD: Readonly<Record<string, readonly unknown[]>> = {
  title: ['two', 'é', 'o\u0301 x'],
  status: ['LIVE', null],
  views: [0, 7],
  score: [0.5, null],
  published: [true, null],
  price: ['1.50', null],
  hits: ['9007199254740993'],
  day: ['2026-02-28'],
  words: [['a']],
  authorId: ['1', 1],
  tagIds: [[], null],
  name: ['Ada'],
  age: [36, null],
  home: [{ city: 'Rome' }, null],
  text: ['hi'],
  postId: ['1', '2', '3'],
  subtitle: ['x', null],
};

/** A call that there is, with words that it knows, and with a value or two that may be anything. */
function nearRequest(random: Random): HostileRequest {
  const module = random.pick(Object.keys(SHAPES));
  const method = random.pick(
    module === 'posts'
      ? ['GET', 'GET', 'POST', 'PATCH', 'PUT', 'DELETE']
      : module === 'comments'
        ? ['POST']
        : module === 'tags'
          ? ['GET', 'POST']
          : ['GET', 'POST', 'DELETE'],
  );
  const item =
    method === 'PATCH' ||
    method === 'PUT' ||
    method === 'DELETE' ||
    (method === 'GET' && module !== 'tags' && random.chance(0.3));
  const target = `/api/${module}${item ? `/${random.chance(0.7) ? 1 + random.below(4) : segment(random)}` : ''}`;
  if (method === 'GET')
    return {
      method,
      target: `${target}?${random.chance(0.5) ? nearParameter(random, module) : ''}`,
      headers: [],
      body: '',
    };
  if (method === 'DELETE')
    return { method, target, headers: random.chance(0.5) ? ['If-Match: "x"'] : [], body: '' };
  const needed: Readonly<Record<string, readonly string[]>> = {
    posts: ['title', 'authorId'],
    authors: ['name', 'email'],
    comments: ['text', 'postId'],
    tags: ['label'],
  };
  const names = new Set([
    ...(method === 'POST' ? (needed[module] as string[]) : []),
    ...(SHAPES[module] as string[]).filter(() => random.chance(0.2)),
  ]);
  const wrong = random.chance(0.6) ? random.pick([...names, ...(SHAPES[module] as string[])]) : '';
  const entries = [...names].map((name): [string, unknown] => [
    name,
    name === wrong
      ? value(random, 0)
      : name === 'email' || name === 'label'
        ? `${random.pick(TEXTS)}${random.below(1e9)}`
        : random.pick(GOOD[name] ?? ['x']),
  ]);
  return {
    method,
    target,
    headers: ['Content-Type: application/json'],
    body: JSON.stringify(Object.fromEntries(entries)),
  };
}

function nearParameter(random: Random, module: string): string {
  const columns: readonly string[] =
    module === 'posts'
      ? COLUMNS
      : module === 'authors'
        ? ['id', 'name', 'email', 'age']
        : ['id', 'label'];
  const given = encoded(random.pick([...TEXTS, ...NUMBERS, ...TIMES, 'LIVE', 'true', 'two']));
  return random.pick([
    `${random.pick(columns)}${random.pick(OPERATORS)}=${given}`,
    `sort=${random.pick(columns)}&order=${random.pick(['asc', 'desc'])}`,
    `page=${given}`,
    `limit=${given}`,
    `fields=${random.pick(columns)}`,
    `include=${random.pick(['author', 'comments', 'tags.posts', 'posts'])}`,
  ]);
}

function noise(random: Random): HostileRequest {
  const method = random.pick([
    'GET',
    'GET',
    'GET',
    'POST',
    'POST',
    'PATCH',
    'PUT',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'PROPFIND',
    'QUERY',
  ]);
  const item = random.chance(method === 'GET' || method === 'POST' ? 0.3 : 0.8);
  const path = `/api/${random.pick(random.chance(0.8) ? MODULES.slice(0, 4) : MODULES)}${item ? `/${random.chance(0.5) ? String(1 + random.below(6)) : segment(random)}` : ''}${random.chance(0.05) ? random.pick(['/', '//', '/x', '/.', '/%2e%2e/']) : ''}`;
  const query = random.chance(0.7)
    ? `?${Array.from({ length: 1 + random.below(4) }, () => parameter(random)).join('&')}`
    : '';
  const headers: string[] = [];
  if (random.chance(0.15))
    headers.push(
      `If-Match: ${random.pick(['*', '"x"', 'W/"x"', '"', '""', 'x', ',,,', `"${'y'.repeat(500)}"`])}`,
    );
  if (random.chance(0.15))
    headers.push(`If-None-Match: ${random.pick(['*', '"x"', 'W/""', 'x,y', '"a", "b"'])}`);
  if (random.chance(0.1))
    headers.push(
      `Accept: ${random.pick(['text/html', 'application/xml', '*/*;q=0', 'nonsense', ''])}`,
    );
  if (random.chance(0.05))
    headers.push(`Prefer: ${random.pick(['return=minimal', 'return=representation', 'x'])}`);
  const writes = method === 'POST' || method === 'PATCH' || method === 'PUT';
  if (!writes && random.chance(0.95)) return { method, target: path + query, headers, body: '' };
  headers.push(`Content-Type: ${random.chance(0.8) ? 'application/json' : random.pick(TYPES)}`);
  return {
    method,
    target: path + query,
    headers,
    body: random.chance(0.85) ? JSON.stringify(object(random, 0)) : broken(random),
  };
}

function segment(random: Random): string {
  const text: string = random.pick([
    ...TEXTS,
    ...NUMBERS,
    'Post:1',
    ':1',
    '1;2',
    '0190a0a0-0000-7000-8000-000000000000',
  ]);
  return random.chance(0.3) ? random.pick(ESCAPES) : encoded(text) || '%20';
}

function parameter(random: Random): string {
  const word: string = random.chance(0.35)
    ? random.pick(['page', 'limit', 'sort', 'order', 'fields', 'include'])
    : random.chance(0.9)
      ? random.pick(FIELDS) + random.pick(OPERATORS)
      : encoded(random.pick(TEXTS));
  if (random.chance(0.08)) return word;
  const value = random.pick<() => string>([
    () => encoded(random.pick(TEXTS)),
    () => encoded(random.pick(NUMBERS)),
    () => encoded(random.pick(TIMES)),
    () => random.pick(ESCAPES),
    () => random.pick(FIELDS),
    () =>
      Array.from({ length: 1 + random.below(8) }, () => random.pick(FIELDS)).join(
        random.pick([',', '.']),
      ),
    () => random.pick(['asc', 'desc', 'ASC', 'DRAFT', 'LIVE', 'true', 'false', '1', '2']),
  ])();
  return `${word}=${value}${random.chance(0.1) ? `&${word}=${value}` : ''}`;
}

/** Lone surrogates cannot be written as a URL; they are left out. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());

function object(random: Random, depth: number): unknown {
  const entries = Array.from({ length: random.below(7) }, (): [string, unknown] => [
    random.chance(0.9) ? random.pick(FIELDS) : random.pick(TEXTS),
    value(random, depth),
  ]);
  // What most calls need, so that some come as far as the database.
  if (depth === 0 && random.chance(0.7))
    entries.push(
      ...Object.entries({
        title: random.pick(TEXTS),
        authorId: '1',
        name: random.pick(TEXTS),
        email: `${random.below(1e9)}@x.test`,
        text: random.pick(TEXTS),
        postId: '1',
        label: `${random.pick(TEXTS)}${random.below(1e9)}`,
      }).filter(() => random.chance(0.35)),
    );
  return JSON.parse(
    `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${JSON.stringify(item) ?? 'null'}`).join(',')}}`,
  );
}

function value(random: Random, depth: number): unknown {
  return random.pick<() => unknown>([
    () => random.pick(TEXTS),
    () => random.pick(NUMBERS),
    () => random.pick(TIMES),
    () => Number(random.pick(NUMBERS)),
    () => null,
    () => random.chance(0.5),
    () => '\ud800',
    () => random.pick(['DRAFT', 'LIVE', 'OTHER']),
    () => (depth < 3 ? object(random, depth + 1) : 1),
    () => Array.from({ length: random.below(4) }, () => (depth < 3 ? value(random, depth + 1) : 1)),
  ])();
}

function broken(random: Random): string {
  return random.pick([
    '',
    ' ',
    '{',
    '}',
    '[',
    '[]',
    'null',
    '1',
    '"x"',
    '{"a":',
    "{'a':1}",
    '{"a":1}}',
    '\u0000',
    '{"a":NaN}',
    '{"a":1,}',
    '{"title":"\\u0000"}',
    '{"title":"\\ud800"}',
    `${'['.repeat(2000)}`,
    `{"a":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":{"x":1}}}',
    '\ufeff{}',
    '{"title":1e400}',
    'title=x&authorId=1',
  ]);
}

/** Sends it as it is and takes all that comes back. */
export function sendRaw(url: string, text: string | Buffer): Promise<WireAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = net.connect(Number(port), hostname, () => socket.write(text));
    socket
      .on('data', (chunk) => chunks.push(chunk))
      .on('error', reject)
      .on('close', () => resolve(readAnswer(Buffer.concat(chunks))));
    socket.setTimeout(60_000, () =>
      socket.destroy(new Error(`no answer within a minute to ${String(text).slice(0, 300)}`)),
    );
  });
}

export function wireText({ method, target, headers, body }: HostileRequest): string {
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  return [
    `${method} ${target} HTTP/1.1`,
    'Host: x.test',
    'Connection: close',
    ...headers,
    ...length,
    '',
    body,
  ].join('\r\n');
}

function readAnswer(bytes: Buffer): WireAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const head = bytes.subarray(0, end < 0 ? bytes.length : end).toString('latin1');
  const rest = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 4);
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
    head,
    body: (/transfer-encoding: chunked/i.test(head) ? unchunk(rest) : rest).toString('utf8'),
  };
}

function unchunk(bytes: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const line = bytes.indexOf('\r\n', at);
    const size = line < 0 ? 0 : Number.parseInt(bytes.subarray(at, line).toString('latin1'), 16);
    if (!size) return Buffer.concat(parts);
    parts.push(bytes.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/**
 * An answer is what was asked for, or says in JSON what is wrong with the request; the server is never at fault.
 *
 * @throws AssertionError with the request, the answer and what `context` adds.
 */
export function assertDecent(request: HostileRequest, answer: WireAnswer, context: object): void {
  const { status, head, body } = answer;
  const found = () =>
    JSON.stringify({ ...context, request, answer: { status, head, body: body.slice(0, 500) } });
  assert.ok(status >= 200 && status < 500 && status !== 0, `status ${status}: ${found()}`);
  if (request.method === 'HEAD' || status === 204 || status === 304)
    return assert.equal(body, '', `a body where none may be: ${found()}`);
  if (body === '' && status < 300) return;
  assert.match(head, /^content-type: (application\/json|text\/html); charset=utf-8$/im, found());
  if (status < 400) return;
  const told = JSON.parse(body);
  assert.deepEqual(Object.keys(told), ['error'], found());
  assert.ok(
    typeof told.error === 'string' && told.error.length > 0 && told.error.length < 2000,
    found(),
  );
  // Words of the database or of JavaScript are nobody's business.
  assert.doesNotMatch(
    told.error,
    /sqlite|postgres|syntax error|constraint failed|relation "|column "|at \w+ \(|node_modules|undefined/i,
    found(),
  );
}
