import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { projectOf, startServer, type TestServer } from '../graphql/harness.ts';
import type { RandomQuery } from '../graphql/random-query.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { compareEvents, type Telling } from './events.ts';
import { openPlace, type Place, unlimited } from './places.ts';
import { randomRules } from './random-rules.ts';
import { randomWrite } from './random-write.ts';
import { type Execution, takeOver } from './takeover.ts';
import { startBehindMcp } from './through-mcp.ts';
import { callersOf, hiddenTexts, otherWorld, randomWorld, settle, userOf } from './worlds.ts';

/** The third way is the planned one behind the tools of `/mcp`. */
export const EXECUTIONS = ['planned', 'unplanned', 'mcp'] as const satisfies (Execution | 'mcp')[];

/** Many sets of rules over one shape, each with every caller. */
export interface RuleSets {
  readonly database: Place['database'];
  readonly execution: (typeof EXECUTIONS)[number];
  /** Of the shape, and of the first set; those that follow have the numbers that follow. */
  readonly seed: number;
  readonly sets: number;
  /** Operations that every caller tries in each set; 25 and 12. */
  readonly queries?: number;
  readonly writes?: number;
}

export interface Compared {
  readonly sets: number;
  readonly queries: number;
  /** Queries that were not refused as a whole. */
  readonly answered: number;
  readonly writes: number;
  /** That subscribers were told of. */
  readonly events: number;
}

/** @throws AssertionError that names the caller, the operation and what is told. */
export async function compareRuleSets(asked: RuleSets): Promise<Compared> {
  const { database, execution, seed, sets, queries = 25, writes = 12 } = asked;
  // Each is asked for under several sets, as it takes longer to make one than to answer it.
  const place = await openPlace(database, seed, queries + 2 * (sets - 1));
  const counts = { sets: 0, queries: 0, answered: 0, writes: 0, events: 0 };
  try {
    for (; counts.sets < sets; counts.sets++) {
      const set = seed + counts.sets;
      await compareRuleSet({ place, execution, set, queries, writes }, counts).catch(
        (cause: unknown) => {
          throw new Error(`seed ${seed}, set ${set} on ${database}, ${execution}`, { cause });
        },
      );
    }
    return counts;
  } finally {
    await place.close();
  }
}

type Counts = { -readonly [name in keyof Compared]: Compared[name] };

interface RuleSet extends Required<Omit<RuleSets, 'database' | 'seed' | 'sets'>> {
  readonly place: Place;
  readonly set: number;
}

async function compareRuleSet(asked: RuleSet, counts: Counts): Promise<void> {
  const { place, execution, set } = asked;
  const random = createRandom(set * 3 + EXECUTIONS.indexOf(execution));
  const { sdl, manifest } = randomRules(random, '', place.shape);
  const resolvers = execution === 'unplanned' ? takeOver(random, projectOf(sdl, manifest)) : {};
  const start = execution === 'mcp' ? startBehindMcp : startServer;
  const startOver = (store: Place['stores'][number]) =>
    start(sdl, { manifest, resolvers, store, inProcess: true, change: unlimited });
  const [one, two] = [await startOver(place.stores[0]), await startOver(place.stores[1])];
  const queries = Array.from({ length: asked.queries }, () => random.pick(place.queries));
  const writes = Array.from({ length: asked.writes }, () => randomWrite(random, one.project));
  try {
    for (const caller of callersOf(random)) {
      const pair = await makePair(random, { one, two, caller, project: one.project });
      for (const query of queries) {
        counts.queries += 1;
        if (await compare(pair, query)) counts.answered += 1;
      }
      counts.events += await compareEvents(pair);
      for (const write of writes) {
        counts.writes += 1;
        if (!(await compareWrite(pair, write))) break;
      }
    }
  } finally {
    await one.close();
    await two.close();
  }
}

/** Two servers whose databases differ in nothing that the caller may see. */
interface Pair extends Telling {
  /** Texts that the caller may not read. */
  readonly secrets: readonly string[];
}

async function makePair(random: Random, servers: Omit<Telling, 'world'>): Promise<Pair> {
  const { project, caller, one, two } = servers;
  const world = randomWorld(random, project, caller);
  const other = otherWorld(random, project, world, caller);
  await Promise.all([
    settle(project, one.store, world, world),
    settle(project, two.store, other, world),
  ]);
  return { ...servers, world, secrets: hiddenTexts(project, world, caller) };
}

/** @returns whether there are data. */
async function compare({ one, two, caller, secrets }: Pair, query: RandomQuery): Promise<boolean> {
  const { text, variables } = query;
  const answers = await alike([one, two], async (server) =>
    byPath(await server.query(text, variables, caller)),
  );
  assertAlike(caller, query, answers);
  assertNothingTold(caller, query, secrets, answers);
  return Boolean(answers[0].data);
}

function assertAlike(
  caller: Telling['caller'],
  { text, variables }: RandomQuery,
  [seen, other]: readonly [Sorted, Sorted],
): void {
  if (isDeepStrictEqual(seen, other)) return;
  assert.deepEqual({ caller, text, variables, seen }, { caller, text, variables, seen: other });
}

function assertNothingTold(
  caller: Telling['caller'],
  { text, variables }: RandomQuery,
  secrets: readonly string[],
  answers: readonly [Sorted, Sorted],
): void {
  const told = JSON.stringify(answers);
  const found = secrets.filter((secret) => told.includes(secret));
  if (found.length === 0) return;
  const asked = text + JSON.stringify(variables);
  const hidden = found.filter((secret) => !asked.includes(secret));
  assert.deepEqual(
    { caller, text, variables, told: hidden },
    { caller, text, variables, told: [] },
  );
}

const TRIES = 30;

/**
 * Which of several errors makes an object null, and what had failed below it by then, is decided by what is read first (6.4.4
 * of the specification leaves it open): where there is such an object, both are asked until they answer alike. A key that
 * leads nowhere is not looked up, so what is read first may always be the same: then such errors do not count.
 */
async function alike(
  servers: readonly [TestServer, TestServer],
  ask: (server: TestServer) => Promise<Sorted>,
): Promise<readonly [Sorted, Sorted]> {
  const answers: (readonly [Sorted, Sorted])[] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const now = await Promise.all([ask(servers[0]), ask(servers[1])]);
    answers.push(now);
    const same = answers.flatMap(([one]) =>
      answers
        .filter(([, two]) => isDeepStrictEqual(one, two))
        .map(([, two]) => [one, two] as const),
    );
    if (same[0]) return same[0];
    if (!now.every(hasLostObject)) return now;
  }
  return settled(answers[0] as [Sorted, Sorted]);
}

const settled = ([one, two]: readonly [Sorted, Sorted]) =>
  [withoutLost(one), withoutLost(two)] as const;

const withoutLost = ({ data, errors }: Sorted): Sorted => ({
  data,
  errors: errors.filter((error) => !hasLostObject({ data, errors: [error] })),
});

/** Whether an error made more than its own field null. */
const hasLostObject = ({ data, errors }: Sorted) =>
  errors.some(
    ({ path = [] }) =>
      path
        .slice(0, -1)
        .reduce((value: any, step: string | number) => value?.[step] ?? null, data) === null,
  );

interface Sorted {
  readonly data?: any;
  readonly errors: readonly any[];
}

/** Fields of a level are answered side by side, and which of their errors comes first is nobody's promise. */
const byPath = ({
  errors = [],
  ...rest
}: {
  readonly data?: any;
  readonly errors?: readonly any[];
}): Sorted => ({
  ...rest,
  errors: errors.toSorted((a, b) => compareTexts(JSON.stringify(a.path), JSON.stringify(b.path))),
});

const compareTexts = (a = '', b = '') => (a < b ? -1 : Number(a > b));

/**
 * A unique value that is taken and a row that others refer to are refused by the database, whoever sees the other row: that
 * there is one is told, and nothing of it. Whoever may make a row their own may then read it as its owner. Behind such an
 * answer the two are no longer alike.
 *
 * @returns whether they still are.
 */
async function compareWrite(
  { one, two, caller, secrets }: Pair,
  write: RandomQuery,
): Promise<boolean> {
  const ask = async ({ query }: TestServer) => byPath(await query(write.text, {}, caller));
  const answers = await Promise.all([ask(one), ask(two)]);
  if (takesRow(caller, write) && answers.every(({ data }) => data?.w)) return false;
  assertNothingTold(caller, write, secrets, answers);
  const refusals = answers.flatMap(({ errors }) =>
    errors.filter(
      ({ message, extensions }) => extensions.code === 'CONFLICT' || message === IN_USE,
    ),
  );
  // A write is not tried again, as a query is.
  const isLost = answers.every(hasLostObject);
  if (refusals.length === 0) assertAlike(caller, write, isLost ? settled(answers) : answers);
  for (const { message } of refusals) assert.match(message, REFUSALS);
  return refusals.length === 0;
}

const takesRow = (caller: Telling['caller'], { text }: RandomQuery) =>
  text.includes(' update') && text.includes(`ownerId: "${userOf(caller)}"`);

const IN_USE = 'a related row does not exist, or is still in use';
const REFUSALS = /^(code already exists|a related row does not exist, or is still in use)$/;
