import { describe, expect, it } from 'vitest';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { oracleOf, type World } from './oracle.ts';
import { CALLERS, everyWhere, printRule, type Rule, TYPES } from './random-conditions.ts';
import { MANIFEST, printWorld, randomRule } from './random-rules.ts';
import { randomWorld, settle } from './random-world.ts';

/** More of them: DENSE_SEEDS=1000 DENSE_SEED=1 npx vitest run test/rules/dense.test.ts */
const SEEDS = Number(process.env['DENSE_SEEDS'] ?? 1);
const SEED = Number(process.env['DENSE_SEED'] ?? 1);
const RULES = Number(process.env['DENSE_RULES'] ?? 150);
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

/** A root field for each rule, which is the only one about its rows. */
interface RuledField {
  readonly name: string;
  readonly type: string;
  readonly rule: Rule;
}

const randomFields = (random: Random): RuledField[] =>
  Array.from({ length: RULES }, (_, index) => {
    const type = random.pick(['Member', ...TYPES]);
    const rule: Rule = randomRule(random, type, ['READ']);
    return { name: `q${index}`, type, rule };
  });

/** Every word about a value that may be null and about a key, behind every relation and quantifier. */
const everyField = (random: Random): RuledField[] =>
  ['Member', ...TYPES]
    .flatMap((type) => everyWhere(random, type).map((where) => ({ type, where })))
    .map(({ type, where }, index) => ({
      name: `q${index}`,
      type,
      rule: { allow: 'PUBLIC', where, on: ['READ'] },
    }));

/** Asks for all fields in one operation, and compares with what the oracle finds. */
async function compare(
  server: TestServer,
  world: World,
  caller: Principal,
  fields: readonly RuledField[],
) {
  const oracle = oracleOf(world, caller);
  const asked = fields.map(({ name }) => `${name} { id }`).join(' ');
  const { data, errors = [] } = await server.query(`{ ${asked} }`, {}, caller);
  for (const { path, extensions } of errors)
    expect([path, extensions.code]).toEqual([
      [expect.stringMatching(/^q\d+$/)],
      expect.stringMatching(/^(FORBIDDEN|UNAUTHENTICATED)$/),
    ]);
  const found: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const { name, type, rule } of fields) {
    const at = `${name} ${type} ${printRule(rule)}`;
    found[at] = (data[name] ?? []).map(({ id }: any) => Number(id));
    expected[at] = (world.rows.get(type) ?? [])
      .filter((row) => !row['deleted_at'] && oracle.allows([rule], type, row, 'READ'))
      .map(({ id }) => id);
  }
  expect({ caller, found }).toEqual({ caller, found: expected });
}

/** A server with a list for each rule over rows of which two types are removed softly. */
async function serve(
  random: Random,
  fields: readonly RuledField[],
  database: 'sqlite' | 'postgres',
) {
  const soft = new Set(['Gamma', 'Member']);
  const rules = new Map([['User', [{ allow: 'PUBLIC', on: ['READ'] } as Rule]]]);
  const sdl = printWorld(rules, soft);
  const world = randomWorld(random, { sdl, bare: sdl, rules, soft });
  const lists = fields.map(
    ({ name, type, rule }) => `${name}: [${type}!] @resolve(as: LIST) ${printRule(rule)}`,
  );
  const server = await startServer(`${sdl} extend type Query { ${lists.join('\n')} }`, {
    database,
    manifest: MANIFEST.replace(
      'rest: true',
      'rest: false, limits: { root_fields: 9999, aliases: 9999, tokens: 99999, cost: 9000000, time: 4m }',
    ),
  });
  await settle(server.project, server.store, world);
  return { server, world };
}

describe.each(databases)('graphql-2 acceptance 3: one rule a list on %s', (database) => {
  it.each(seeds)(
    'shows the rows that an oracle finds by hand, for random rules, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const fields = randomFields(random);
      const { server, world } = await serve(random, fields, database);
      try {
        for (const caller of CALLERS) await compare(server, world, caller, fields);
      } finally {
        await server.close();
      }
    },
  );

  it.each(seeds)(
    'shows the rows that an oracle finds by hand, for each word behind each relation, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const fields = everyField(random);
      const { server, world } = await serve(random, fields, database);
      try {
        for (const caller of CALLERS.slice(1, 3)) await compare(server, world, caller, fields);
      } finally {
        await server.close();
      }
    },
  );
});
