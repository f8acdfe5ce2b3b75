import { describe, expect, it } from 'vitest';
import {
  type Entity,
  type Project,
  restFilters,
  restMembers,
  type RestModule,
  restModules,
  restSorts,
} from '@twofold/schema';
import type { Principal } from '../../runtime/core/context/request-context.ts';
import { databases, projectOf } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { type RestServer, startRest } from '../rest/harness.ts';
import { randomRules } from './random-rules.ts';
import { type Execution, takeOver } from './takeover.ts';
import { callersOf, hiddenTexts, otherWorld, randomWorld, settle, type World } from './worlds.ts';

/** More of them: LEAK_SCHEMAS=200 LEAK_SEED=1000 npx vitest run test/leak/rest.test.ts */
const SCHEMAS = Number(process.env['LEAK_SCHEMAS'] ?? 2);
const SEED = Number(process.env['LEAK_SEED'] ?? 1);
const READS = 40;
const WRITES = 14;
const seeds = Array.from({ length: SCHEMAS }, (_, index) => SEED + index);

const OPEN = (project: Project): Project => ({
  ...project,
  api: {
    ...project.api,
    limits: { ...project.api.limits, depth: 99, cost: Number.MAX_SAFE_INTEGER },
  },
});

/** Two servers whose databases differ in nothing that the caller may see. */
interface Pair {
  readonly random: Random;
  readonly project: Project;
  readonly caller: Principal;
  readonly world: World;
  readonly one: RestServer;
  readonly two: RestServer;
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Shown {
  readonly status: number;
  readonly text: string;
  readonly etag: string | null;
  readonly location: string | null;
}

const EXECUTIONS: readonly Execution[] = ['planned', 'unplanned'];
const kinds = databases.flatMap((database) =>
  EXECUTIONS.map((execution) => ({ database, execution })),
);

describe.each(kinds)(
  'random rules and callers in REST on $database, $execution',
  ({ database, execution }) => {
    it.each(seeds)(
      'tell nothing that they forbid, in any answer, seed %i',
      { timeout: 300_000 },
      async (seed) => {
        const random = createRandom(execution === 'planned' ? seed : seed + 500_000);
        const { sdl, manifest } = randomRules(random);
        // An object of a row that is not there has none of what the document promises of it.
        const resolvers =
          execution === 'planned' ? {} : takeOver(random, projectOf(sdl, manifest), false);
        const statuses = new Set<number>();
        for (const caller of callersOf(random)) {
          const one = await startRest(sdl, { manifest, database, resolvers, change: OPEN });
          const two = await startRest(sdl, { manifest, database, resolvers, change: OPEN });
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
            for (let index = 0; index < READS; index++)
              statuses.add((await compare(pair, randomRead(pair))).status);
            await compare(pair, { method: 'GET', path: '/api/openapi.json' });
            expect((await one.call('GET', '/api/openapi.json', { as: caller })).text).toBe(
              (await one.call('GET', '/api/openapi.json')).text,
            );
            for (let index = 0; index < WRITES; index++)
              if (!(await compareWrite(pair, await randomWrite(pair), statuses))) break;
          } finally {
            await one.close();
            await two.close();
          }
        }
        expect([
          statuses.has(200),
          [...statuses].some((status) => status === 401 || status === 403),
          [...statuses],
        ]).toEqual([true, true, expect.anything()]);
      },
    );
  },
);

async function ask(
  server: RestServer,
  caller: Principal,
  { method, path, body, headers }: Call,
): Promise<Shown> {
  const answer = await server.call(method, path, {
    as: caller,
    ...(body && { body }),
    ...(headers && { headers }),
  });
  return {
    status: answer.status,
    text: answer.text,
    etag: answer.headers.get('etag'),
    location: answer.headers.get('location'),
  };
}

/** The answer is the same where only what is hidden differs, and no text in it is hidden. */
async function compare(pair: Pair, call: Call): Promise<Shown> {
  const { one, two, caller } = pair;
  const [seen, expected] = [await ask(one, caller, call), await ask(two, caller, call)];
  expect({ caller, call, seen }).toEqual({ caller, call, seen: expected });
  expectNothingHidden(pair, call, seen);
  return seen;
}

function expectNothingHidden({ project, world, caller }: Pair, call: Call, { text }: Shown): void {
  const asked =
    decodeURIComponent(call.path.replaceAll('+', ' ')) + JSON.stringify(call.body ?? '');
  expect({
    caller,
    call,
    told: hiddenTexts(project, world, caller).filter(
      (secret) => text.includes(secret) && !asked.includes(secret),
    ),
  }).toEqual({ caller, call, told: [] });
}

/** What the database itself refuses, whoever sees the other row: that there is one is told, and nothing of it. */
const CONFLICTS =
  /^\{"error":"(code already exists|a related row is still in use|a related row does not exist)"\}$/;

/** @returns false when the two are no longer alike. */
async function compareWrite(pair: Pair, call: Call, statuses: Set<number>): Promise<boolean> {
  const { one, two, caller } = pair;
  const answers = [await ask(one, caller, call), await ask(two, caller, call)] as const;
  for (const answer of answers) {
    statuses.add(answer.status);
    expectNothingHidden(pair, call, answer);
  }
  if (answers.some(({ text }) => CONFLICTS.test(text))) return false;
  expect({ caller, call, answer: answers[0] }).toEqual({ caller, call, answer: answers[1] });
  return true;
}

function randomRead({ random, project, world }: Pair): Call {
  const module = random.pick(restModules(project));
  const rows = world.get(module.entity.name) ?? [];
  const parameters = new URLSearchParams();
  shape(random, project, module.entity, parameters);
  const method = random.chance(0.05) ? 'HEAD' : 'GET';
  if (module.get && random.chance(0.3))
    return {
      method,
      path: `${module.path}/${1 + random.below(rows.length + 1)}?${String(parameters)}`,
    };
  filters({ random, world }, module, parameters);
  if (random.chance(0.5)) parameters.set('sort', random.pick(restSorts(module)));
  if (random.chance(0.5)) parameters.set('order', random.pick(['asc', 'desc']));
  if (random.chance(0.4)) parameters.set('limit', String(1 + random.below(4)));
  if (random.chance(0.3)) parameters.set('page', String(1 + random.below(3)));
  return { method, path: `${module.path}?${String(parameters)}` };
}

function shape(
  random: Random,
  project: Project,
  entity: Entity,
  parameters: URLSearchParams,
): void {
  const members = [...restMembers(entity).values()];
  if (random.chance(0.4))
    parameters.set(
      'fields',
      members
        .filter(() => random.chance(0.3))
        .map(({ name }) => name)
        .join(',') || 'id',
    );
  const relations = members
    .filter(({ kind }) => kind === 'relation')
    .filter(() => random.chance(0.3));
  const paths = relations.map(({ name, field }) => {
    const target =
      'entity' in field.source
        ? project.entities.find(
            (other) => other.name === ('entity' in field.source ? field.source.entity : ''),
          )
        : undefined;
    const inner =
      target && random.chance(0.4)
        ? random.pick([...restMembers(target).values()].filter(({ kind }) => kind === 'relation'))
        : undefined;
    return inner ? `${name}.${inner.name}` : name;
  });
  if (paths.length > 0) parameters.set('include', paths.join(','));
}

/** By anything, what is hidden included: a guess that is right must not be told from one that is wrong. */
function filters(
  { random, world }: Pick<Pair, 'random' | 'world'>,
  module: RestModule,
  parameters: URLSearchParams,
): void {
  const rows = world.get(module.entity.name) ?? [];
  for (const { parameter, member, operator } of restFilters(module).values()) {
    if (!random.chance(0.03)) continue;
    const guess = () =>
      String(
        (random.chance(0.8) ? random.pick(rows)?.[member.column?.name ?? 'id'] : undefined) ??
          random.below(6),
      );
    const text = guess();
    if (operator === 'isNull') parameters.set(parameter, random.pick(['true', 'false']));
    else if (operator === 'in' || operator === 'notIn')
      for (const value of [text, guess()]) parameters.append(parameter, value);
    else
      parameters.set(
        parameter,
        operator === 'contains' || operator === 'startsWith'
          ? text.slice(0, 1 + random.below(text.length))
          : text,
      );
  }
}

async function randomWrite(pair: Pair): Promise<Call> {
  const { random, project, caller, one } = pair;
  const module = random.pick(
    restModules(project).filter(({ create, update, remove }) => create ?? update ?? remove),
  );
  const [verb, method] = random.pick([
    ['create', 'POST'],
    ['update', 'PATCH'],
    ['update', 'PUT'],
    ['remove', 'DELETE'],
  ] as const);
  const parameters = new URLSearchParams();
  if (verb !== 'remove') shape(random, project, module.entity, parameters);
  const path = `${module.path}${verb === 'create' ? '' : `/${1 + random.below(9)}`}`;
  const tag =
    verb !== 'create' && random.chance(0.3)
      ? ((await ask(one, caller, { method: 'GET', path })).etag ?? '"guess"')
      : undefined;
  const args =
    module[verb]?.args.filter(
      ({ name, type }) => name !== 'id' && (type.required || random.chance(0.4)),
    ) ?? [];
  return {
    method,
    path: `${path}?${String(parameters)}`,
    ...(verb !== 'remove' && {
      body: Object.fromEntries(
        args.map(({ name, type }) => [name, valueOf(random, name, type.name)]),
      ),
    }),
    ...(tag !== undefined && { headers: { 'if-match': tag } }),
  };
}

function valueOf(random: Random, name: string, scalar: string): unknown {
  if (scalar === 'Int') return random.below(6);
  if (scalar === 'ID') return random.chance(0.15) ? null : String(1 + random.below(9));
  return name === 'label' ? random.pick(['ant', 'bee', 'cat']) : `${name} made ${random.below(4)}`;
}
