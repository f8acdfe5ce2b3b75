import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  parse,
  type SelectionSetNode,
  visit,
} from 'graphql';
import type { Project } from '@twofold/schema';
import { projectOf, startServer, type TestServer } from './harness.ts';
import { randomData, type Row } from './random-data.ts';
import { randomQuery, type RandomQuery } from './random-query.ts';
import { createRandom, type Random, randomSchema } from './random-schema.ts';
import { createReference, type Reference } from './reference.ts';

/** One schema, its rows, and random operations over them. */
export interface Comparison {
  readonly seed: number;
  readonly database: 'sqlite' | 'postgres';
  /** Rows that others refer to and that are not there. */
  readonly holes: number;
  readonly queries: number;
  /**
   * `planned`: roots are actions. `unplanned`: functions of the user's answer the roots and some of the relations, so that
   * loaders and the executor do the work.
   */
  readonly execution: 'planned' | 'unplanned';
}

export interface Compared {
  readonly operations: number;
  readonly statements: number;
  /** Operations with errors in both answers. */
  readonly failed: number;
}

const OPEN = (project: Project): Project => ({
  ...project,
  api: {
    ...project.api,
    limits: {
      ...project.api.limits,
      depth: 99,
      cost: Number.MAX_SAFE_INTEGER,
      aliases: 1e4,
      tokens: 1e6,
      directives: 1e4,
      rootFields: 99,
      time: 600_000,
    },
  },
});

/** The user's own function, the same for both: it sees columns by the names of their fields. */
const echo = (entity: string) => (row: Row) => `${entity} ${row['id']} ${row['label']}`;

/**
 * Compares our answers with those of graphql-js over plain resolvers: data to the letter and in the same order of members,
 * errors and their paths, and how many statements it took.
 *
 * @throws AssertionError that names the seed, the operation and what is different.
 */
export async function compareAnswers(comparison: Comparison): Promise<Compared> {
  const { seed, database, holes, queries, execution } = comparison;
  const random = createRandom(seed);
  const sdl = randomSchema(random);
  const folder = mkdtempSync(join(tmpdir(), 'twofold-differential-'));
  const project = projectOf(sdl);
  const functions = echoes(project);
  let reference: Reference | undefined;
  if (execution === 'unplanned') takeOver(random, project, () => reference as Reference, functions);
  // Every other SQLite is a file, where statements are answered at once, and the rest are in memory, where they are not.
  const server = await startServer(sdl, {
    database,
    change: OPEN,
    resolvers: functions,
    ...(database === 'sqlite' && seed % 2 === 0 && { url: `file:${join(folder, 'app.db')}` }),
  });
  const ask = connect(server);
  try {
    reference = createReference(
      server.project,
      await randomData(random, server.project, server.store, holes),
      echo,
    );
    const counts = { operations: queries, statements: 0, failed: 0 };
    for (let index = 0; index < queries; index++) {
      const operation = randomQuery(random, server.project, index % 3 === 0);
      server.statements();
      const ours = withKeys(await ask(operation));
      const statements = server.statements().length;
      const theirs = JSON.parse(
        JSON.stringify(await reference.execute(operation.text, operation.variables)),
      );
      assertSame({ ...comparison, index, operation }, ours, theirs);
      assertStatements({ ...comparison, index, operation }, statements, ours.data);
      counts.statements += statements;
      if (!ours.errors) continue;
      counts.failed += 1;
      await quiet(server);
    }
    return counts;
  } finally {
    ask.close();
    await server.close();
    rmSync(folder, { recursive: true });
  }
}

type Functions = Record<string, Record<string, (...args: any[]) => unknown>>;

const echoes = (project: Project): Functions =>
  Object.fromEntries([
    ['Query', {}],
    ...project.entities.map(({ name }) => [name, { echo: echo(name) }]),
  ]);

/** Lets the reference's own functions answer the roots, and every third relation. */
function takeOver(
  random: Random,
  project: Project,
  reference: () => Reference,
  functions: Functions,
): void {
  for (const { name } of project.operations)
    functions['Query']![name] = (_: unknown, args: Row) => reference().root(name, args);
  for (const entity of project.entities) {
    for (const { name, source } of entity.fields) {
      if ((source.kind === 'one' || source.kind === 'many') && random.chance(0.3))
        functions[entity.name]![name] = (row: Row, args: Row) =>
          reference().field(entity.name, name, Number(row['id']), args);
    }
  }
}

interface Found extends Comparison {
  readonly index: number;
  readonly operation: RandomQuery;
}

function assertSame(found: Found, ours: any, theirs: any): void {
  const [a, b] = [
    { data: ours.data, errors: errorsOf(ours) },
    { data: theirs.data, errors: errorsOf(theirs) },
  ];
  if (ours.data === undefined) assert.fail(`it was refused: ${JSON.stringify({ found, ours })}`);
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  assert.deepEqual({ found, data: a.data }, { found, data: b.data });
  // Where several fields make one object null, the specification (6.4.4) leaves open which of them is named.
  assert.deepEqual(
    { found, nulls: nullsOf(ours) },
    { found, nulls: nullsOf(theirs) },
    `other errors: ${JSON.stringify({ found, ours: a.errors, theirs: b.errors })}`,
  );
  if (JSON.stringify(a.data) !== JSON.stringify(b.data))
    assert.fail(
      `the members are in another order: ${JSON.stringify({ found, ours: a, theirs: b })}`,
    );
}

const errorsOf = ({ errors }: { errors?: any[] }) =>
  errors?.map(({ message, path }) => `${path?.join('.')}: ${message}`).sort();

/** What errors made null; the field is named where it is that itself, and so nothing else can have failed. */
function nullsOf({ data, errors = [] }: { data?: any; errors?: any[] }): string[] {
  const places = errors.map(({ message, path }) => {
    let [value, depth] = [data, 0];
    for (; value !== null && value !== undefined && depth < path.length; depth++)
      value = value[path[depth]];
    return depth === path.length
      ? `${path.join('.')}: ${message}`
      : `${path.slice(0, depth).join('.')} is null`;
  });
  return [...new Set(places)].sort();
}

/** One for each root field, up to the one whose error makes the whole answer null; with functions of the user's, one for each loader and level. */
function assertStatements(found: Found, statements: number, data: object | null): void {
  const planned = found.execution === 'planned';
  const document = parse(found.operation.text);
  // A member of an interface has a loader for each type that it may be of.
  const kinds = /\.\.\. on |labelled|Thing|near/.test(found.operation.text) ? 4 : 1;
  const bound = planned ? roots(document) : kinds * relations(document);
  const right = planned && data !== null ? statements === bound : statements <= bound;
  if (!right)
    assert.fail(`${statements} statements, ${bound} are the bound: ${JSON.stringify(found)}`);
}

const roots = ({ definitions }: DocumentNode): number =>
  definitions.reduce(
    (sum, node) =>
      sum +
      (node.kind === Kind.OPERATION_DEFINITION
        ? node.selectionSet.selections.filter(
            (field) => field.kind === Kind.FIELD && field.name.value !== '__typename',
          ).length
        : 0),
    0,
  );

/** Places of the document where rows may be read; a fragment is one as often as it is used. */
function relations(document: DocumentNode): number {
  const fragments = new Map(
    document.definitions.flatMap((node) =>
      node.kind === Kind.FRAGMENT_DEFINITION ? [[node.name.value, node] as const] : [],
    ),
  );
  return document.definitions.reduce(
    (sum, node) =>
      sum + (node.kind === Kind.OPERATION_DEFINITION ? placesIn(node.selectionSet, fragments) : 0),
    0,
  );
}

function placesIn(
  selections: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  let places = 0;
  visit(selections, {
    Field: ({ selectionSet }) => void (places += selectionSet ? 1 : 0),
    FragmentSpread: ({ name }) => {
      const fragment = fragments.get(name.value);
      if (fragment) places += placesIn(fragment.selectionSet, fragments);
    },
  });
  return places;
}

/** Our cursors hold the key as their last value; those of the reference are keys. */
export function withKeys(value: any): any {
  if (Array.isArray(value)) return value.map(withKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      /ursor$/.test(key) && typeof item === 'string' && !/^\d+$/.test(item)
        ? JSON.parse(Buffer.from(item, 'hex').toString()).at(-1)
        : withKeys(item),
    ]),
  );
}

/** Loaders of an answer that became null early may still be at work: their statements are not those of the next operation. */
async function quiet(server: TestServer): Promise<void> {
  do {
    server.statements();
    await sleep(10);
  } while (server.statements().length > 0);
}

interface Asking {
  (operation: RandomQuery): Promise<any>;
  close(): void;
}

/** One connection that is kept: opening them would cost more than most operations. */
function connect({ url, project }: TestServer): Asking {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ask = (operation: RandomQuery): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const request = http.request(
        `${url}${project.api.path}`,
        { agent, method: 'POST', headers: { 'content-type': 'application/json' } },
        (response) => {
          const chunks: Buffer[] = [];
          response
            .on('data', (chunk: Buffer) => chunks.push(chunk))
            .on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        },
      );
      // On a busy machine the server may close a kept connection in the moment in which it is used again.
      request
        .on('error', (error) => (request.reusedSocket ? resolve(ask(operation)) : reject(error)))
        .end(JSON.stringify({ query: operation.text, variables: operation.variables }));
    });
  return Object.assign(ask, { close: () => agent.destroy() });
}
