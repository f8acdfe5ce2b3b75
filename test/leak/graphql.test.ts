import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Entity, Project } from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { changesOf } from '../../runtime/core/data/changes/changes.ts';
import { databases, projectOf, startServer, type TestServer } from '../graphql/harness.ts';
import { randomQuery, type RandomQuery } from '../graphql/random-query.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { randomRules } from './random-rules.ts';
import { randomWrite } from './random-write.ts';
import { sightOf } from './sight.ts';
import { type Execution, takeOver } from './takeover.ts';
import { startBehindMcp } from './through-mcp.ts';
import { callersOf, hiddenTexts, otherWorld, randomWorld, settle, type World } from './worlds.ts';

/** More of them: LEAK_SCHEMAS=200 LEAK_SEED=1000 npx vitest run test/leak */
const SCHEMAS = Number(process.env['LEAK_SCHEMAS'] ?? 2);
const SEED = Number(process.env['LEAK_SEED'] ?? 1);
const QUERIES = 25;
const WRITES = 12;
const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);

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

/** Two servers whose databases differ in nothing that the caller may see. */
interface Pair {
  readonly random: Random;
  readonly project: Project;
  readonly caller: Principal;
  readonly world: World;
  readonly one: TestServer;
  readonly two: TestServer;
}

/** The third way is the planned one behind the tools of `/mcp`. */
const EXECUTIONS: readonly (Execution | 'mcp')[] = ['planned', 'unplanned', 'mcp'];
const kinds = databases.flatMap((database) =>
  EXECUTIONS.map((execution) => ({ database, execution })),
);

describe.each(kinds)(
  'random rules and callers on $database, $execution',
  ({ database, execution }) => {
    it.each(seeds)(
      'tell nothing that they forbid, in any answer, seed %i',
      { timeout: 300_000 },
      async (seed) => {
        const random = createRandom(seed + EXECUTIONS.indexOf(execution) * 500_000);
        const { sdl, manifest } = randomRules(random);
        const resolvers =
          execution === 'unplanned' ? takeOver(random, projectOf(sdl, manifest)) : {};
        const start = execution === 'mcp' ? startBehindMcp : startServer;
        for (const caller of callersOf(random)) {
          const one = await start(sdl, { manifest, database, resolvers, change: OPEN });
          const two = await start(sdl, { manifest, database, resolvers, change: OPEN });
          try {
            const world = randomWorld(random, one.project);
            await settle(one.project, one.store, world, world);
            await settle(
              two.project,
              two.store,
              otherWorld(random, one.project, world, caller),
              world,
            );
            const pair: Pair = { random, project: one.project, caller, world, one, two };
            for (let index = 0; index < QUERIES; index++)
              await compare(pair, randomQuery(random, pair.project, false, true));
            await compareEvents(pair);
            await compare(pair, {
              text: '{ __schema { types { name fields { name } } } }',
              variables: {},
            });
            for (let index = 0; index < WRITES; index++) if (!(await compareWrite(pair))) break;
          } finally {
            await one.close();
            await two.close();
          }
        }
      },
    );
  },
);

/** @returns the answer that both gave. */
async function compare(
  { one, two, caller, world, project }: Pair,
  { text, variables }: RandomQuery,
): Promise<any> {
  const [seen, expected] = await alike([one, two], async (server) =>
    byPath(await server.query(text, variables, caller)),
  );
  const asked = text + JSON.stringify(variables);
  const told = JSON.stringify([seen, expected]);
  expect({
    caller,
    text,
    variables,
    told: hiddenTexts(project, world, caller).filter(
      (secret) => told.includes(secret) && !asked.includes(secret),
    ),
  }).toEqual({ caller, text, variables, told: [] });
  expect({ caller, text, variables, seen }).toEqual({ caller, text, variables, seen: expected });
  return seen;
}

const TRIES = 30;

/**
 * Which of several errors makes an object null, and what had failed below it by then, is decided by what is read first (6.4.4
 * of the specification leaves it open): where there is such an object, both are asked until they answer alike.
 */
async function alike(
  servers: readonly [TestServer, TestServer],
  ask: (server: TestServer) => Promise<Sorted>,
): Promise<readonly [Sorted, Sorted]> {
  const answers: [Sorted, Sorted][] = [];
  for (let tries = 0; tries < TRIES; tries++) {
    const now: [Sorted, Sorted] = [await ask(servers[0]), await ask(servers[1])];
    answers.push(now);
    const same = answers.flatMap(([one]) =>
      answers
        .filter(([, two]) => isDeepStrictEqual(one, two))
        .map(([, two]) => [one, two] as const),
    );
    if (same[0]) return same[0];
    if (!now.every(hasLostObject)) return now;
  }
  return answers[0] as [Sorted, Sorted];
}

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
 * there is one is told, and nothing of it. Behind such an answer the two are no longer alike.
 */
async function compareWrite(pair: Pair): Promise<boolean> {
  const { one, two, caller, random, project, world } = pair;
  const { text } = randomWrite(random, project);
  const answers = [await one.query(text, {}, caller), await two.query(text, {}, caller)];
  const refusals = answers.map(({ errors }) =>
    errors?.find(({ message, extensions }) => extensions.code === 'CONFLICT' || message === IN_USE),
  );
  if (refusals.every((refusal) => refusal === undefined)) {
    expect({ caller, text, answer: answers[0] }).toEqual({ caller, text, answer: answers[1] });
    return true;
  }
  for (const refusal of refusals)
    if (refusal)
      expect(refusal.message).toMatch(
        /^(code already exists|a related row does not exist, or is still in use)$/,
      );
  expect(
    answers.flatMap((answer) =>
      hiddenTexts(project, world, caller).filter(
        (secret) => JSON.stringify(answer).includes(secret) && !text.includes(secret),
      ),
    ),
  ).toEqual([]);
  return false;
}

const IN_USE = 'a related row does not exist, or is still in use';

/** What subscribers are told when every row is touched, and when those that are gone are said to be removed. */
async function compareEvents({ project, caller, world, one, two }: Pair): Promise<void> {
  const sight = sightOf(project, caller);
  for (const entity of project.entities) {
    const text = `subscription { ${entity.name.toLowerCase()}Changed { ${entity.fields
      .filter(({ source }) => source.kind === 'column')
      .map(({ name }) => name)
      .join(' ')} } }`;
    const expected = (world.get(entity.name) ?? []).filter((row) => sight.row(entity, row)).length;
    const [seen, other] = await Promise.all([
      hear(one, text, caller, entity, world, expected),
      hear(two, text, caller, entity, world, expected),
    ]);
    expect({ caller, text, seen }).toEqual({ caller, text, seen: other });
    if ('events' in seen)
      expect({ caller, text, events: seen.events.length }).toEqual({
        caller,
        text,
        events: expected,
      });
  }
}

/** Every answer to a subscription while each row that there was is said to have changed; of who may not subscribe, the refusal. */
async function hear(
  { url, store }: TestServer,
  query: string,
  caller: Principal,
  entity: Entity,
  world: World,
  expected: number,
): Promise<{ readonly refused: unknown } | { readonly events: readonly unknown[] }> {
  const gone = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    signal: gone.signal,
    headers: {
      'content-type': 'application/json',
      accept: 'text/event-stream',
      'x-test-principal': JSON.stringify(caller),
    },
    body: JSON.stringify({ query }),
  });
  if (!response.headers.get('content-type')?.includes('event-stream'))
    return { refused: await response.json() };
  let text = '';
  const reading = (async () => {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
      text += part;
  })().catch(() => {});
  changesOf(store).publish(
    (world.get(entity.name) ?? []).map(({ id }) => ({
      entity: entity.name,
      kind: 'updated',
      id: String(id),
    })),
  );
  const events = () =>
    [...text.matchAll(/event: next\ndata: (.*)\n\n/g)].map(([, data = '']) => JSON.parse(data));
  for (let tries = 0; tries < 400 && events().length < expected; tries++)
    await new Promise((resolve) => setTimeout(resolve, 25));
  await new Promise((resolve) => setTimeout(resolve, 30));
  gone.abort();
  await reading;
  return { events: events() };
}
