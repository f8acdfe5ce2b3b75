import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { GraphQLError, print, type ValidationContext } from 'graphql';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { AppError, createServer, defineApp, failure } from '../../runtime/core/index.ts';
import type { GraphqlHooks, Plugin, Running } from '../../runtime/core/index.ts';
import { projectOf } from './harness.ts';

// A server with two plugins that say which of their hooks run; the first does what a test asks for besides.

const SDL = `
  type Note { id: ID! text: String! broken: String @computed }
  type Query { notes(limit: Int): [Note!]! note(id: ID!): Note bug: String }
  type Mutation { createNote(text: String!): Note! }
  type Subscription { noteCreated: Note! }
`;
const MANIFEST = 'name: hooks\napi: { limits: { batch: 5 } }\n';
export const LISTED = 'query Listed { notes { id } }';
export const FORBIDDEN = 'query Bad { forbidden: notes { id } }';

export const hooked = {
  url: '',
  /** What ran: the name of the plugin and that of the hook. */
  said: [] as string[],
  /** How often the validation rule of the first plugin was asked. */
  looked: 0,
  /** What the first plugin does besides saying what runs; each test sets its own. */
  hooks: {} as GraphqlHooks,
  /** The log of the server. */
  lines: [] as string[],
};

/** Refuses the alias "forbidden". */
const noForbidden = (context: ValidationContext) => {
  hooked.looked += 1;
  return {
    Field: (node: any) => {
      if (node.alias?.value === 'forbidden')
        context.reportError(new GraphQLError('forbidden is no name', { nodes: [node] }));
    },
  };
};

function plugin(name: string, first: boolean): Plugin {
  const say = (what: string) => void hooked.said.push(`${name} ${what}`);
  return {
    name,
    before: (ctx: any, next: any) => {
      if (first && ctx.get('x-wrong')) throw failure.unauthenticated('a wrong key');
      return next();
    },
    resolvers: {
      Query: {
        bug: () => {
          throw new RangeError('a secret');
        },
      },
      Note: {
        broken: () => {
          throw new RangeError('a secret');
        },
      },
    },
    graphql: {
      ...(first && { validationRules: [noForbidden] }),
      onParse: ({ source }) => {
        say('parse');
        if (first && source.includes('noParse')) throw new AppError(451, 'NOT_READ', 'not read');
        if (first && source.includes('parseSlip')) throw new GraphQLError('slip of parsing');
        return ({ document }) => say(document ? 'parsed' : 'no document');
      },
      onValidate: ({ document }) => {
        say('validate');
        if (first && print(document).includes('validateSlip'))
          throw new GraphQLError('slip of validation');
        return ({ errors }) => say(`validated ${errors.length}`);
      },
      onExecute: async (call) => {
        say(`execute ${call.operationType} ${call.operationName}`);
        const own = first ? await hooked.hooks.onExecute?.(call) : undefined;
        if (own && typeof own === 'object') return own;
        return async (done) => {
          say('executed');
          return own?.(done);
        };
      },
      onSubscribe: async (call) => {
        say(`subscribe ${call.operationName}`);
        const own = first ? await hooked.hooks.onSubscribe?.(call) : undefined;
        return (done) => {
          say('event');
          return own ? own(done) : done.event;
        };
      },
      formatError: (formatted, failed) => {
        say(`format ${formatted.extensions?.['code']}`);
        return (first && hooked.hooks.formatError?.(formatted, failed)) || formatted;
      },
    },
  };
}

let folder: string;

export async function startHooked(manifest = MANIFEST): Promise<Running> {
  const server = createServer(
    defineApp({ project: projectOf(SDL, manifest), root: pathToFileURL(`${folder}/`) }),
  );
  for (const [at, name] of ['a', 'b'].entries()) server.plugin(plugin(name, at === 0));
  return server.start('127.0.0.1:0', {
    env: { DATABASE_URL: ':memory:' },
    logTo: { write: (line) => void hooked.lines.push(line) },
  });
}

/** Starts the server before the tests of a file, and forgets what was said before each. */
export function useHookedServer(): void {
  let running: Running;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'hooks-'));
    writeFileSync(join(folder, 'listed.json'), JSON.stringify([LISTED]));
    writeFileSync(
      join(folder, 'bad.json'),
      JSON.stringify([LISTED, FORBIDDEN, 'query Old { gone }']),
    );
    running = await startHooked();
    hooked.url = running.url;
  });
  afterAll(async () => {
    await running.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    Object.assign(hooked, { said: [], looked: 0, hooks: {}, lines: [] });
  });
}

export async function call(body: unknown, options: RequestInit = {}, url = hooked.url) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  });
  const text = await response.text();
  return {
    status: response.status,
    text,
    body: text.startsWith('event') ? null : JSON.parse(text),
  };
}

/** What is said while a document is read for the first time. */
export const PREPARED = [
  'a parse',
  'b parse',
  'b parsed',
  'a parsed',
  'a validate',
  'b validate',
  'b validated 0',
  'a validated 0',
];
export const RUN = (operation: string) => [
  `a execute ${operation}`,
  `b execute ${operation}`,
  'b executed',
  'a executed',
];

/** What an event stream brought until `stop` says so. */
export async function streamed(query: string, stop = (text: string) => text.includes('complete')) {
  const abort = new AbortController();
  const response = await fetch(`${hooked.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ query }),
    signal: abort.signal,
  });
  let text = '';
  for await (const piece of response.body!) {
    text += Buffer.from(piece).toString();
    if (stop(text)) break;
  }
  abort.abort();
  return { status: response.status, text };
}
