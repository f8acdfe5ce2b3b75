import { describe, expect, it } from 'vitest';
import { databases, startServer } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { oracleOf } from './oracle.ts';
import { CALLERS, printRule, type Rule, TYPES } from './random-conditions.ts';
import { MANIFEST, printWorld, randomRule } from './random-rules.ts';
import { randomWorld, settle } from './random-world.ts';

/** More of them: DENSE_SEEDS=1000 DENSE_SEED=1 npx vitest run test/rules/dense.test.ts */
const SEEDS = Number(process.env['DENSE_SEEDS'] ?? 1);
const SEED = Number(process.env['DENSE_SEED'] ?? 1);
const RULES = Number(process.env['DENSE_RULES'] ?? 60);
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

/** A root field for each rule, which is the only one about its rows. */
function randomFields(random: Random) {
  return Array.from({ length: RULES }, (_, index) => {
    const type = random.pick(['Member', ...TYPES]);
    const rule: Rule = randomRule(random, type, ['READ']);
    return { name: `q${index}`, type, rule };
  });
}

describe.each(databases)('graphql-2 acceptance 3: one random rule a list on %s', (database) => {
  it.each(seeds)(
    'shows the rows that an oracle finds by hand, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const soft = new Set(['Gamma', 'Member'].filter(() => random.chance(0.3)));
      const open: Rule = { allow: 'PUBLIC', on: ['READ'] };
      const rules = new Map([['User', [open]]]);
      const sdl = printWorld(rules, soft);
      const world = randomWorld(random, { sdl, bare: sdl, rules, soft });
      const fields = randomFields(random);
      const lists = fields.map(
        ({ name, type, rule }) => `${name}: [${type}!]! @resolve(as: LIST) ${printRule(rule)}`,
      );
      const server = await startServer(`${sdl} extend type Query { ${lists.join('\n')} }`, {
        database,
        manifest: `${MANIFEST.replace('rest: true', 'rest: false, limits: { root_fields: 999, cost: 900000 }')}`,
      });
      try {
        await settle(server.project, server.store, world);
        for (const caller of CALLERS) {
          const oracle = oracleOf(world, caller);
          const found: Record<string, unknown> = {};
          const expected: Record<string, unknown> = {};
          for (const { name, type, rule } of fields) {
            const at = `${name} ${type} ${printRule(rule)}`;
            const { data, errors } = await server.query(`{ ${name} { id } }`, {}, caller);
            found[at] = (data?.[name] ?? []).map(({ id }: any) => Number(id));
            if (errors)
              expect([at, errors[0].extensions.code]).toEqual([
                at,
                expect.stringMatching(/^(FORBIDDEN|UNAUTHENTICATED)$/),
              ]);
            expected[at] = (world.rows.get(type) ?? [])
              .filter((row) => !row['deleted_at'] && oracle.allows([rule], type, row, 'READ'))
              .map(({ id }) => id);
          }
          expect({ seed, caller, found }).toEqual({ seed, caller, found: expected });
        }
      } finally {
        await server.close();
      }
    },
  );
});
