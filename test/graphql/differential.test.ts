import { describe, expect, it } from 'vitest';
import { randomData, type Row } from './random-data.ts';
import { randomQuery } from './random-query.ts';
import { createRandom, randomSchema } from './random-schema.ts';
import { createReference } from './reference.ts';
import { databases, startServer } from './harness.ts';

const SCHEMAS = Number(process.env['DIFFERENTIAL_SCHEMAS'] ?? 8);
const QUERIES = Number(process.env['DIFFERENTIAL_QUERIES'] ?? 60);
const SEED = Number(process.env['DIFFERENTIAL_SEED'] ?? 1);
const OPEN = (project: any) => ({ ...project, api: { ...project.api, limits: { ...project.api.limits, depth: 99, cost: 1e9, aliases: 1e4, tokens: 1e6, directives: 1e4, rootFields: 99 } } });

/** The user's own function, the same for both: it sees columns by the names of their fields. */
const echo = (entity: string) => (row: Row) => `${entity} ${row['id']} ${row['label']}`;

const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);

describe.each(databases)('on %s', (database) => {
  it.each(seeds)('answers what graphql-js with plain resolvers answers, in one statement a root field, seed %i', (seed) => compare(seed, database, 0));

  it.each(seeds)('has the same errors and nulls where rows are missing, seed %i', (seed) => compare(seed + 500, database, 10));
});

async function compare(seed: number, database: 'sqlite' | 'postgres', holes: number): Promise<void> {
  const random = createRandom(seed);
  const sdl = randomSchema(random);
  const entities = [...sdl.matchAll(/^type (\w+) \{ id: ID!/gm)].map((match) => match[1] as string);
  const resolvers = Object.fromEntries(entities.map((entity) => [entity, { echo: echo(entity) }]));
  const server = await startServer(sdl, { database, change: OPEN, resolvers });
  try {
    const data = await randomData(random, server.project, server.store, holes);
    const reference = createReference(server.project, data, echo);
    for (let index = 0; index < QUERIES; index++) {
      const { text, variables } = randomQuery(random, server.project, index % 3 === 0);
      server.statements();
      const ours = withKeys(await server.query(text, variables));
      const theirs = JSON.parse(JSON.stringify(await reference(text, variables)));
      expect({ text, variables, data: ours.data, errors: errorsOf(ours) }).toEqual({ text, variables, data: theirs.data, errors: errorsOf(theirs) });
      expect(Object.keys(ours.data ?? {})).toEqual(Object.keys(theirs.data ?? {}));
      const roots = Object.keys(ours.data ?? {}).length;
      if (holes === 0) expect({ text, statements: server.statements().length }).toEqual({ text, statements: roots });
    }
  } finally {
    await server.close();
  }
}

/** Where two root fields make the whole answer null, which of them is named depends on who was first. */
const errorsOf = ({ data, errors }: { data?: unknown; errors?: any[] }) => (data === null && errors ? 'an error' : errors?.map(({ message, path }) => `${path?.join('.')}: ${message}`).sort());

/** Our cursors hold the key as their last value. */
function withKeys(value: any): any {
  if (Array.isArray(value)) return value.map(withKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, /ursor$/.test(key) && typeof item === 'string' ? JSON.parse(Buffer.from(item, 'hex').toString()).at(-1) : withKeys(item)]));
}
