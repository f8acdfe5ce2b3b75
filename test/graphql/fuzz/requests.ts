import type { Project } from '@twofold/schema';
import { randomQuery } from '../random-query.ts';
import type { Random } from '../random-schema.ts';
import type { Asked } from './valid-answer.ts';

/** One HTTP request. */
export interface Shot {
  readonly kind: string;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** What is asked for, when nothing of it was spoilt. */
  readonly asked?: Asked | undefined;
}

export const PATH = '/graphql';

const JSON_TYPE = { 'content-type': 'application/json' };
const WORDS = [
  '{',
  '}',
  '(',
  ')',
  '[',
  ']',
  ':',
  '!',
  '|',
  '&',
  '=',
  '@',
  '$',
  '...',
  '"',
  '"""',
  '#',
  '\\',
  ',',
  '\u0000',
  '\ufeff',
  '😀',
  '\ud800',
  '1e999',
  '-0',
  '99999999999999999999',
  'null',
  'true',
  'on',
  'query',
  'mutation',
  'subscription',
  'fragment',
  '__typename',
  '__schema',
  '__type',
  '@skip(if: true)',
  '@include(if: $x)',
  '@defer',
  '@stream',
  '$x',
  'x:',
];
const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'application/graphql',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/graphql+json',
  '',
  'a/b;;=',
  'APPLICATION/JSON',
];
const ACCEPTS = [
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'application/graphql-response+json, application/json;q=0.9',
  'text/html',
  'text/html,application/xhtml+xml,*/*;q=0.8',
  'image/png',
  'application/json;q=0',
  '',
  ';;;',
  'application/*;q=nan',
  'text/event-stream',
  'application/json; charset=utf-16',
];

/** Values that are seldom thought of. */
export function oddValue(random: Random, depth = 2): unknown {
  const pick = random.below(depth > 0 ? 16 : 13);
  if (pick === 13)
    return Array.from({ length: random.below(4) }, () => oddValue(random, depth - 1));
  if (pick === 14)
    return {
      [random.pick(['id', 'eq', 'and', 'not', 'text', '__proto__', 'constructor', ''])]: oddValue(
        random,
        depth - 1,
      ),
    };
  if (pick === 15) return nested(random.below(200));
  return [
    null,
    true,
    0,
    -1,
    1e308,
    2 ** 53,
    0.1,
    '',
    'x'.repeat(random.below(3000)),
    '\u0000',
    '\ud800',
    "'; drop table notes; --",
    '2026-02-30T00:00:00Z',
  ][pick];
}

const nested = (levels: number): unknown => (levels === 0 ? 1 : [nested(levels - 1)]);

const WRITES = [
  'mutation { createNote(text: "hello", mood: CALM) { id text mood at } }',
  'mutation ($text: String!) { createNote(text: $text) { __typename id } }',
  'mutation { a: createNote(text: "a") { id } b: deleteNote(id: 1) c: updateNote(id: 2, text: null) { text } }',
  'mutation { createDiary(text: "dear") { id } }',
];
const READS = [
  '{ boom notes { id } }',
  '{ hits { __typename ... on Note { text mood } ... on Diary { text } } }',
  '{ diaries { text } notes { id } }',
  '{ __schema { types { name fields { name } } } }',
  '{ __type(name: "Note") { name fields { name type { name kind ofType { name } } } } }',
  'query A { __typename } query B { notes { id } }',
  '{ echo(text: "a", list: [1, 2], one: { number: 1 }) }',
  '{ wait(milliseconds: 20) }',
  'subscription { noteChanged { id } }',
];

/** An operation that is right, of the grammar of the schema or one of those above. */
export function operation(random: Random, project: Project): Asked {
  if (random.chance(0.6)) {
    const { text, variables } = randomQuery(random, project, true);
    return { query: text, variables };
  }
  const query = random.pick(random.chance(0.3) ? WRITES : READS);
  const operationName = query.startsWith('query A')
    ? random.pick(['A', 'B', 'C', undefined])
    : undefined;
  return {
    query,
    variables: query.includes('$text') ? { text: oddValue(random) } : {},
    ...(operationName && { operationName }),
  };
}

/** The words and signs of a document, some of them in another place, twice, missing or other ones. */
export function spoilDocument(random: Random, text: string): string {
  const words = text.split(/(\s+|(?<=[{}()[\]:!$@,])|(?=[{}()[\]:!$@,]))/);
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const at = random.below(words.length);
    const deed = random.below(6);
    if (deed === 0) words.splice(at, 1);
    else if (deed === 1) words.splice(at, 0, words[random.below(words.length)] ?? '');
    else if (deed === 2) words[at] = random.pick(WORDS);
    else if (deed === 3) words.splice(at, 0, random.pick(WORDS).repeat(1 + random.below(40)));
    else if (deed === 4) words.splice(at, 0, ...words.slice(at, at + random.below(20)));
    else words.length = at;
  }
  return words.join('');
}

/** Bytes that changed on their way. */
export function spoilBytes(random: Random, bytes: Buffer): Buffer {
  const spoilt = Buffer.from(bytes);
  for (let changes = 1 + random.below(6); changes > 0 && spoilt.length > 0; changes--)
    spoilt[random.below(spoilt.length)] = random.below(256);
  return random.chance(0.2) ? spoilt.subarray(0, random.below(spoilt.length + 1)) : spoilt;
}

const bodyOf = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '');
const posted = (kind: string, body: unknown, asked?: Asked): Shot => ({
  kind,
  method: 'POST',
  path: PATH,
  headers: JSON_TYPE,
  body: bodyOf(body),
  asked,
});

type Make = (random: Random, project: Project) => Shot;

const KINDS: readonly Make[] = [
  (random, project) => {
    const asked = operation(random, project);
    return {
      ...posted('right', asked, asked),
      headers: {
        ...JSON_TYPE,
        accept: random.pick(['application/json', 'application/graphql-response+json']),
      },
    };
  },
  (random, project) => {
    const { query, ...rest } = operation(random, project);
    const spoilt = spoilDocument(random, query);
    return posted('document', { query: spoilt, ...rest }, { ...rest, query: spoilt });
  },
  (random, project) => ({
    ...posted('bytes', null),
    body: spoilBytes(random, bodyOf(operation(random, project))),
  }),
  (random, project) => {
    const { variables, ...rest } = operation(random, project);
    const spoilt = Object.fromEntries(
      Object.keys(variables).map((name) => [
        name,
        random.chance(0.6) ? oddValue(random) : variables[name],
      ]),
    );
    return posted('variables', { ...rest, variables: spoilt }, { ...rest, variables: spoilt });
  },
  (random) =>
    posted('parameters', {
      [random.pick(['query', 'operationName', 'variables', 'extensions', 'documentId', 'x'])]:
        oddValue(random),
      [random.pick(['query', 'id', 'extensions'])]: random.pick([
        '{ __typename }',
        { persistedQuery: { version: 1, sha256Hash: 'x' } },
        { persistedQuery: oddValue(random) },
      ]),
    }),
  (random) => posted('body', oddValue(random)),
  (random, project) =>
    posted(
      'batch',
      Array.from({ length: random.below(7) }, () =>
        random.chance(0.2) ? oddValue(random) : operation(random, project),
      ),
    ),
  (random, project) => ({
    ...posted('headers', operation(random, project)),
    headers: randomHeaders(random),
  }),
  (random, project) => ({
    ...posted('method', operation(random, project)),
    method: random.pick(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PURGE', 'TRACE']),
  }),
  (random, project) => {
    const { query, variables } = operation(random, project);
    const search = `?query=${encodeURIComponent(random.chance(0.5) ? query : spoilDocument(random, query).toWellFormed())}&variables=${encodeURIComponent(JSON.stringify(variables).toWellFormed())}`;
    return {
      kind: 'get',
      method: 'GET',
      path:
        PATH +
        (random.chance(0.3) ? ascii(spoilBytes(random, Buffer.from(search))) : search).slice(
          0,
          6000,
        ),
      headers: random.chance(0.5) ? {} : { accept: random.pick(ACCEPTS) },
      body: Buffer.alloc(0),
    };
  },
  (random, project) => {
    const parts = [
      '--x',
      'content-disposition: form-data; name="operations"',
      '',
      JSON.stringify(operation(random, project)),
      '--x',
      'content-disposition: form-data; name="0"; filename="a.txt"',
      '',
      'file',
      '--x--',
      '',
    ].join('\r\n');
    return {
      kind: 'multipart',
      method: 'POST',
      path: PATH,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
      body: random.chance(0.5) ? Buffer.from(parts) : spoilBytes(random, Buffer.from(parts)),
    };
  },
  (random, project) => ({
    ...posted('events', operation(random, project)),
    headers: { ...JSON_TYPE, accept: 'text/event-stream' },
  }),
  (random) => {
    const count = random.below(300);
    const query = random.pick([
      `{ ${Array.from({ length: count }, (_, index) => `a${index}: __typename`).join(' ')} }`,
      `${'{ a '.repeat(count)}${'}'.repeat(count)}`,
      `{ ...F0 } ${Array.from({ length: count }, (_, index) => `fragment F${index} on Query { ...F${(index + 1) % count} }`).join(' ')}`,
      `{ notes(where: ${'{ not: '.repeat(count)}{}${' }'.repeat(count)}) { id } }`,
      `{ echo(list: [${'1 '.repeat(count * 10)}]) }`,
      `{ echo(one: ${'{ choice: '.repeat(count)}{ number: 1 }${' }'.repeat(count)}) }`,
    ]);
    return posted('hostile', { query });
  },
];

const ascii = (bytes: Buffer) => bytes.toString('latin1').replace(/[^!-~]/g, '%');

function randomHeaders(random: Random): Record<string, string> {
  const all: Record<string, string> = {
    'content-type': random.pick(TYPES),
    accept: random.pick(ACCEPTS),
    'content-encoding': random.pick(['gzip', 'identity', 'br', 'deflate, gzip']),
    origin: random.pick(['https://evil.test', 'null', 'x', 'http://localhost']),
    'sec-fetch-site': random.pick(['cross-site', 'same-origin', 'none', '?']),
    authorization: random.pick([
      'Bearer x',
      'Bearer',
      'Basic eDp5',
      'Bearer a.b.c',
      'x'.repeat(4000),
    ]),
    'x-api-key': random.pick(['', 'x', 'é'.repeat(20)]),
    'x-request-id': random.pick(['1', 'x'.repeat(500), '<script>']),
    cookie: random.pick(['a=b', '=;=;', 'x'.repeat(2000)]),
    'accept-language': '*',
    expect: '100-continue',
    'x-forwarded-for': '1.2.3.4, x',
    range: 'bytes=0-1',
    'if-none-match': '*',
  };
  const chosen = Object.entries(all).filter(
    ([name]) => name === 'content-type' || random.chance(0.3),
  );
  return Object.fromEntries(chosen);
}

/** A request of any kind. */
export const randomShot = (random: Random, project: Project): Shot =>
  random.pick(KINDS)(random, project);
