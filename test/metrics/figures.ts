import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterAll, beforeAll, expect } from 'vitest';
import { createServer, defineApp, type Running } from '../../runtime/core/index.ts';
import { auth } from '../../runtime/auth/index.ts';
import { projectOf } from '../graphql/harness.ts';

/** Servers with a page of figures, and its readers. */
export const TOKEN = 'a-token-of-prometheus';
export const KEY = 'k'.repeat(32);
const SDL = `
  type User { id: ID! email: String! }
  type Note @auth(allow: [PUBLIC]) { id: ID! text: String! }
  type Query { notes: [Note!]! note(id: ID!): Note bug: String }
  type Mutation { createNote(text: String!): Note! }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = `name: figures
auth: {}
api: { rest: true, access: public, limits: { batch: 500 }, trusted_documents: { file: listed.json, required: false } }
observability: { metrics: true }
`;
export const TRUSTED = 'query Trusted { notes { id } }';

export interface StartOptions {
  readonly manifest?: string;
  readonly url?: string;
  readonly env?: Record<string, string>;
  readonly capabilities?: boolean;
}

/** A folder with the trusted document, until the tests of the file have run. */
export function folderOfFigures(): { readonly path: string } {
  const folder = { path: '' };
  beforeAll(() => {
    folder.path = mkdtempSync(join(tmpdir(), 'figures-'));
    writeFileSync(join(folder.path, 'listed.json'), JSON.stringify([TRUSTED]));
  });
  afterAll(() => rmSync(folder.path, { recursive: true }));
  return folder;
}

export function startFigures(
  folder: { readonly path: string },
  { manifest = MANIFEST, url = ':memory:', env, capabilities = true }: StartOptions,
): Promise<Running> {
  return createServer(
    defineApp({
      project: projectOf(SDL, manifest),
      root: pathToFileURL(`${folder.path}/`),
      capabilities: capabilities ? [auth()] : [],
      resolvers: {
        Query: {
          bug: () => {
            throw new RangeError('a secret');
          },
        },
      },
      jobs: { mail: { run: () => {} } },
      routes: (router) => void router.get('/hello/:name', () => ({ hello: true })),
    }),
  ).start('127.0.0.1:0', {
    env: {
      DATABASE_URL: url,
      METRICS_TOKEN: TOKEN,
      API_KEY: KEY,
      JWT_SECRET: 's'.repeat(40),
      RATE_LIMIT_ENABLED: 'false',
      ...env,
    },
    logTo: { write: () => {} },
  });
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export async function scrape(
  url: string,
  headers: Record<string, string> = bearer(TOKEN),
  path = '/metrics',
) {
  const response = await fetch(url + path, { headers });
  const text = await response.text();
  return { status: response.status, type: response.headers.get('content-type'), text };
}

export interface Parsed {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly {
    readonly labels?: Record<string, string>;
    readonly value?: string;
    readonly buckets?: Record<string, string>;
    readonly count?: string;
    readonly sum?: string;
  }[];
}

/** The families of a page, as a parser of Prometheus' format reads them. */
export async function families(
  url: string,
  headers?: Record<string, string>,
): Promise<Map<string, Parsed>> {
  const { status, text } = await scrape(url, headers);
  expect(status).toBe(200);
  const parsed = parsePrometheus(text) as readonly Parsed[];
  return new Map(parsed.map((family) => [family.name, family]));
}

export async function valueOf(url: string, name: string, labels: Record<string, string> = {}) {
  const found = (await families(url))
    .get(name)
    ?.metrics.filter((each) =>
      Object.entries(labels).every(([label, value]) => each.labels?.[label] === value),
    );
  return found?.reduce((sum, { value, count }) => sum + Number(value ?? count), 0);
}

/** On a connection of its own, so that any of several workers may answer. */
export const post = (url: string, body: unknown) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(5000),
  }).then((response) => response.json() as Promise<any>);

export const query = (url: string, text: string, more: Record<string, unknown> = {}) =>
  post(url, { query: text, ...more });
