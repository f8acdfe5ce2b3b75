import { describe, expect, it } from 'vitest';
import type { Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, startServer, type TestServer } from '../graphql/harness.ts';
import { randomQuery } from '../graphql/random-query.ts';
import { createRandom } from '../graphql/random-schema.ts';
import { CALLERS, lower, TYPES } from './random-conditions.ts';
import { BARE_MANIFEST, MANIFEST, randomRuled } from './random-rules.ts';
import { askShapes } from './random-shapes.ts';
import { randomWorld, settle, visibleWorld } from './random-world.ts';

/** More of them: RULES_SEEDS=1000 RULES_SEED=1 npx vitest run test/rules/random.test.ts */
const SEEDS = Number(process.env['RULES_SEEDS'] ?? 2);
const SEED = Number(process.env['RULES_SEED'] ?? 5);
const QUERIES = Number(process.env['RULES_QUERIES'] ?? 8);
const seeds = Array.from({ length: SEEDS }, (_, index) => SEED + index);

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

/**
 * What is asked of every world: all rows by every way, and what could tell of hidden values. Each
 * part is one root field, so that a refusal of one does not hide the others.
 */
const ALWAYS: readonly (readonly string[])[] = TYPES.map((type) => {
  const name = lower(type);
  const more =
    type === 'Alpha'
      ? [`f: ${name}s { fanCount hasMembers fans { id } members { id user { id likeCount } } }`]
      : [];
  const byId = [1, 2, 3, 4, 5, 6].map((id) => `a${id}: ${name}(id: ${id}) { id label }`);
  const sorted = ['ASC', 'DESC'].flatMap((way) => [
    `s${way}: ${name}s(orderBy: { secret: ${way} }) { id }`,
    `p${way}: all${type}(first: 3, orderBy: { secret: ${way} }) { edges { cursor node { id } } pageInfo { endCursor } }`,
  ]);
  const guessed = [1, 3, 5].flatMap((id) => [
    `x${id}: ${name}s(where: { secret: { eq: "secret ${type} ${id}" } }) { id }`,
    `h${id}: ${name}s(secret: "secret ${type} ${id}") { id }`,
  ]);
  return [
    `r: ${name}s { id }`,
    `c: ${name}s { id childCount has }`,
    `v: ${name}s { id secret }`,
    `o: ${name}s { id owner { id } }`,
    `all${type} { totalCount }`,
    `top${type} { id }`,
    ...more,
    ...byId,
    ...sorted,
    ...guessed,
    ...askShapes(`${name}s`),
  ];
});

describe.each(databases)('graphql-2 acceptance 3: random rules on %s', (database) => {
  it.each(seeds)(
    'show, count, sort and find what an oracle finds by hand, seed %i',
    { timeout: 300_000 },
    async (seed) => {
      const random = createRandom(seed);
      const ruled = randomRuled(random);
      const world = randomWorld(random, ruled);
      const guarded = await startServer(ruled.sdl, { database, manifest: MANIFEST, change: OPEN });
      const filtered = await startServer(ruled.bare, {
        database,
        manifest: BARE_MANIFEST,
        change: OPEN,
      });
      let compared = 0;
      try {
        await settle(guarded.project, guarded.store, world);
        for (const caller of CALLERS.filter((_, index) => (index + seed) % 2 === 0)) {
          await settle(filtered.project, filtered.store, visibleWorld(ruled, world, caller));
          const pair: Pair = { guarded, filtered, caller, sdl: ruled.sdl, seed };
          for (const parts of ALWAYS) compared += await compareParts(pair, parts);
          for (let index = 0; index < QUERIES; index++) {
            const { text, variables } = randomQuery(random, filtered.project, false, true);
            compared += Number(await compare(pair, text, variables));
          }
        }
        expect(compared).toBeGreaterThan(TYPES.length);
      } finally {
        await guarded.close();
        await filtered.close();
      }
    },
  );
});

interface Pair {
  readonly guarded: TestServer;
  readonly filtered: TestServer;
  readonly caller: Principal;
  readonly sdl: string;
  readonly seed: number;
}

/** A field that the caller may read in no row of its type is refused where it is asked for. */
const isRefused = (path: readonly (string | number)[], data: any) =>
  path.length === 1 ||
  path.slice(0, -1).reduce((value, step) => value?.[step] ?? null, data) === null;

/** Compares root fields in one operation, or in one each when one of them is refused. */
async function compareParts(pair: Pair, parts: readonly string[]): Promise<number> {
  if (await compare(pair, `{ ${parts.join(' ')} }`, {})) return parts.length;
  let compared = 0;
  for (const part of parts) compared += Number(await compare(pair, `{ ${part} }`, {}));
  return compared;
}

/** @returns whether the two answers could be compared. */
async function compare(
  { guarded, filtered, caller, sdl, seed }: Pair,
  text: string,
  variables: Record<string, unknown>,
): Promise<boolean> {
  const { data, errors = [] } = await guarded.query(text, variables, caller);
  for (const { extensions, message } of errors)
    expect({ seed, text, sdl, message, code: extensions?.code }).toMatchObject({
      code: expect.stringMatching(/^(FORBIDDEN|UNAUTHENTICATED)$/),
    });
  if (errors.some(({ path }) => isRefused(path ?? [], data))) return false;
  const expected = await filtered.query(text, variables);
  expect({ seed, caller, text, variables, sdl, data }).toEqual({
    seed,
    caller,
    text,
    variables,
    sdl,
    data: expected.data,
  });
  return true;
}
