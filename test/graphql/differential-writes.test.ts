import { afterEach, describe, expect, it } from 'vitest';
import type { Project } from '@twofold/schema';
import { inferred } from '../../runtime/core/inferred.ts';
import type { Resolver, Resolvers } from '../../runtime/core/plugin.ts';
import { withKeys } from './differential.ts';
import { databases, projectOf, startServer, type TestServer } from './harness.ts';
import { randomData, readData } from './random-data.ts';
import { createRandom, randomSchema } from './random-schema.ts';
import { argumentsOf, randomWrite, type RandomWrite, writesOf } from './random-write.ts';
import { createReference } from './reference.ts';

/** More of them: WRITES_SCHEMAS=100 WRITES_SEED=1000 npx vitest run test/graphql/differential-writes.test.ts */
const SCHEMAS = Number(process.env['WRITES_SCHEMAS'] ?? 4);
const SEED = Number(process.env['WRITES_SEED'] ?? 1);
const WRITES = 40;
const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);
const kinds = databases.flatMap((database) =>
  (['planned', 'unplanned'] as const).map((execution) => ({ database, execution })),
);

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
    },
  },
});

/** Rows of each entity as a client would read them: members are columns, and keys of other rows. */
type Rows = Readonly<Record<string, readonly Readonly<Record<string, any>>[]>>;

let server: TestServer;
afterEach(() => server?.close());

describe.each(kinds)('random mutations on $database, $execution', ({ database, execution }) => {
  it.each(seeds)(
    'write what they say and no more, and answer what graphql-js reads of it, seed %i',
    async (seed) => {
      const random = createRandom(seed);
      // A key of several types is set by no argument.
      const sdl = randomSchema(random).replaceAll(/: (Labelled|Anything)!/g, ': $1');
      const schema = `${sdl}\n${writesOf(projectOf(sdl))}`;
      server = await startServer(schema, {
        database,
        change: OPEN,
        resolvers: execution === 'planned' ? {} : functionsOf(projectOf(schema)),
      });
      await randomData(random, server.project, server.store);
      let before = await readRows(server);
      const done = { create: 0, update: 0, delete: 0, refused: 0 };
      for (let index = 0; index < WRITES; index += 1) {
        const write = randomWrite(random, server.project);
        const { text, variables } = write;
        const answer = await server.query(text, variables);
        const after = await readRows(server);
        const id = newKey(write, before, after) ?? write.id;
        const expected = expectedRows(server.project, write, before, id);
        expect({
          text,
          variables,
          errors: answer.errors?.map(({ message }) => message) ?? 'none',
          rows: after,
        }).toEqual({
          text,
          variables,
          errors: expected ? 'none' : [expect.stringMatching(/there is no such|a related row/)],
          rows: expected ?? before,
        });
        if (expected)
          expect(JSON.stringify({ text, variables, data: withKeys(answer.data) })).toBe(
            JSON.stringify({
              text,
              variables,
              data: await expectedAnswer(server, write, id, before),
            }),
          );
        done[expected ? write.kind : 'refused'] += 1;
        before = after;
      }
      expect(done.create * done.update, JSON.stringify(done)).toBeGreaterThan(0);
    },
  );
});

/** Functions in the place of the mutations and of the relations. */
function functionsOf({ operations, entities }: Project): Resolvers {
  const answered: Resolver = (parent, args, context, info) => inferred(parent, args, context, info);
  const relations = entities.map(({ name, fields }) => [
    name,
    Object.fromEntries(
      fields.flatMap(({ name: field, source }) =>
        source.kind === 'one' || source.kind === 'many' ? [[field, answered]] : [],
      ),
    ),
  ]);
  return {
    ...Object.fromEntries(relations),
    Mutation: Object.fromEntries(
      operations.filter(({ root }) => root === 'mutation').map(({ name }) => [name, answered]),
    ),
  };
}

const reference = async ({ project, store }: TestServer) =>
  createReference(project, await readData(project, store), () => () => null);

async function readRows(of: TestServer): Promise<Rows> {
  const fields = of.project.entities.map(({ name, fields: members, columns }) => {
    const columnsOf = members
      .filter(({ source }) => source.kind === 'column')
      .map((field) => field.name);
    const keys = members.flatMap(({ name: field, source }) =>
      source.kind === 'one' &&
      source.key === 'own' &&
      source.typeColumn === undefined &&
      columns.length > 0
        ? [`${field} { id }`]
        : [],
    );
    return `${name}: ${name.toLowerCase()}s(limit: 100) { ${[...columnsOf, ...keys].join(' ')} }`;
  });
  const { data, errors } = await (await reference(of)).execute(`{ ${fields.join(' ')} }`, {});
  expect(errors).toBeUndefined();
  return JSON.parse(JSON.stringify(data));
}

const newKey = ({ kind, entity }: RandomWrite, before: Rows, after: Rows) =>
  kind === 'create'
    ? after[entity.name]?.find(({ id }) => !before[entity.name]?.some((row) => row['id'] === id))?.[
        'id'
      ]
    : undefined;

/** The rows behind it; undefined where it has to be refused: a key leads nowhere, or a row that is needed would be gone. */
function expectedRows(
  project: Project,
  write: RandomWrite,
  before: Rows,
  id: string,
): Rows | undefined {
  const { kind, entity } = write;
  const own = before[entity.name] ?? [];
  const found = own.some((row) => row['id'] === id);
  if (kind === 'delete') return found ? without(project, entity.name, before, id) : before;
  if (kind === 'update' && !found) return before;
  const leadsNowhere = argumentsOf(entity).some(({ name, column }) => {
    const target = entity.columns.find((each) => each.name === column)?.references?.entity;
    const key = write.given[name];
    return (
      target !== undefined &&
      key !== undefined &&
      key !== null &&
      !(before[target] ?? []).some((row) => row['id'] === key) &&
      !(target === entity.name && key === id)
    );
  });
  if (leadsNowhere) return undefined;
  const set = (row: Readonly<Record<string, any>>) => ({ ...row, ...membersOf(write) });
  const empty = () => ({
    ...Object.fromEntries(
      argumentsOf(entity).map(({ name, type }) => [type === 'ID' ? name.slice(0, -2) : name, null]),
    ),
    id,
  });
  const rows =
    kind === 'create'
      ? [...own, set(empty())]
      : own.map((row) => (row['id'] === id ? set(row) : row));
  return { ...before, [entity.name]: rows.toSorted((a, b) => Number(a['id']) - Number(b['id'])) };
}

const membersOf = ({ given }: RandomWrite) =>
  Object.fromEntries(
    Object.entries(given).map(([name, value]) =>
      /[a-z]Id$/.test(name)
        ? [name.slice(0, -2), value === null ? null : { id: value }]
        : [name, value],
    ),
  );

/** Keys that may be nothing become nothing. */
function without(project: Project, name: string, before: Rows, id: string): Rows | undefined {
  const after: Record<string, readonly Readonly<Record<string, any>>[]> = {
    ...before,
    [name]: (before[name] ?? []).filter((row) => row['id'] !== id),
  };
  for (const entity of project.entities) {
    for (const field of entity.fields) {
      const { source } = field;
      if (
        source.kind !== 'one' ||
        source.key !== 'own' ||
        source.entity !== name ||
        source.typeColumn !== undefined
      )
        continue;
      const holds = (row: Readonly<Record<string, any>>) => row[field.name]?.id === id;
      if (field.type.required && (after[entity.name] ?? []).some(holds)) return undefined;
      after[entity.name] = (after[entity.name] ?? []).map((row) =>
        holds(row) ? { ...row, [field.name]: null } : row,
      );
    }
  }
  return after;
}

async function expectedAnswer(
  of: TestServer,
  write: RandomWrite,
  id: string,
  before: Rows,
): Promise<unknown> {
  if (write.kind === 'delete')
    return { w: (before[write.entity.name] ?? []).some((row) => row['id'] === id) };
  const { data } = await (await reference(of)).execute(write.shownBy(id), write.variables);
  return JSON.parse(JSON.stringify(data));
}
