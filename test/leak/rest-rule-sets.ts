import assert from 'node:assert/strict';
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
import { projectOf } from '../graphql/harness.ts';
import { createRandom, type Random } from '../graphql/random-schema.ts';
import { createConformance } from '../rest/conformance.ts';
import { type RestServer, startRest } from '../rest/harness.ts';
import { openPlace, type Place, unlimited } from './places.ts';
import { randomRules } from './random-rules.ts';
import { type Execution, takeOver } from './takeover.ts';
import {
  callersOf,
  hiddenTexts,
  otherWorld,
  randomWorld,
  settle,
  userOf,
  type World,
} from './worlds.ts';

/** Many sets of rules over one shape, each with every caller. */
export interface RestRuleSets {
  readonly database: Place['database'];
  readonly execution: Execution;
  /** Of the shape, and of the first set; those that follow have the numbers that follow. */
  readonly seed: number;
  readonly sets: number;
  /** Calls of every caller in each set; 40 and 14. */
  readonly reads?: number;
  readonly writes?: number;
}

/** Two servers whose databases differ in nothing that the caller may see. */
interface Pair {
  readonly random: Random;
  readonly project: Project;
  readonly caller: Principal;
  readonly world: World;
  /** Texts that the caller may not read. */
  readonly secrets: readonly string[];
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

/**
 * @returns how often each status was answered.
 * @throws AssertionError that names the caller, the call and what is told.
 */
export async function compareRestRuleSets(asked: RestRuleSets): Promise<Map<number, number>> {
  const { database, execution, seed, sets } = asked;
  const place = await openPlace(database, seed, 0);
  const statuses = new Map<number, number>();
  try {
    for (let set = seed; set < seed + sets; set++)
      await compareRuleSet(asked, place, set, statuses).catch((cause: unknown) => {
        throw new Error(`seed ${seed}, set ${set} in REST on ${database}, ${execution}`, { cause });
      });
    return statuses;
  } finally {
    await place.close();
  }
}

type Statuses = Map<number, number>;

const count = (statuses: Statuses, status: number) =>
  statuses.set(status, (statuses.get(status) ?? 0) + 1);

async function compareRuleSet(
  { execution, reads = 40, writes = 14 }: RestRuleSets,
  place: Place,
  set: number,
  statuses: Statuses,
): Promise<void> {
  const random = createRandom(set * 2 + (execution === 'planned' ? 0 : 1));
  const { sdl, manifest } = randomRules(random, '', place.shape);
  // An object of a row that is not there has none of what the document promises of it.
  const resolvers =
    execution === 'planned' ? {} : takeOver(random, projectOf(sdl, manifest), false);
  const conforms = createConformance(unlimited(projectOf(sdl, manifest)), resolvers);
  const start = (store: Place['stores'][number]) =>
    startRest(sdl, { manifest, resolvers, store, conforms, inProcess: true, change: unlimited });
  const [one, two] = [await start(place.stores[0]), await start(place.stores[1])];
  try {
    const document = { method: 'GET', path: '/api/openapi.json' };
    const open = (await ask(one, { kind: 'anonymous' }, document)).text;
    for (const caller of callersOf(random)) {
      const pair = await makePair(random, { one, two, caller, project: one.project });
      for (let index = 0; index < reads; index++)
        count(statuses, (await compare(pair, randomRead(pair))).status);
      assert.equal((await compare(pair, document)).text, open);
      for (let index = 0; index < writes; index++)
        if (!(await compareWrite(pair, await randomWrite(pair), statuses))) break;
    }
  } finally {
    await one.close();
    await two.close();
  }
}

async function makePair(
  random: Random,
  servers: Pick<Pair, 'one' | 'two' | 'caller' | 'project'>,
): Promise<Pair> {
  const { project, caller, one, two } = servers;
  const world = randomWorld(random, project, caller);
  const other = otherWorld(random, project, world, caller);
  await Promise.all([
    settle(project, one.store, world, world),
    settle(project, two.store, other, world),
  ]);
  return { ...servers, random, world, secrets: hiddenTexts(project, world, caller) };
}

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
  const answers = await Promise.all([ask(one, caller, call), ask(two, caller, call)]);
  assertAlike(pair, call, answers);
  return answers[0];
}

function assertAlike(pair: Pair, call: Call, [seen, other]: readonly [Shown, Shown]): void {
  const { caller } = pair;
  assert.deepEqual({ caller, call, seen }, { caller, call, seen: other });
  assertNothingTold(pair, call, seen);
}

function assertNothingTold({ caller, secrets }: Pair, call: Call, { text }: Shown): void {
  const found = secrets.filter((secret) => text.includes(secret));
  if (found.length === 0) return;
  const asked =
    decodeURIComponent(call.path.replaceAll('+', ' ')) + JSON.stringify(call.body ?? '');
  const told = found.filter((secret) => !asked.includes(secret));
  assert.deepEqual({ caller, call, told }, { caller, call, told: [] });
}

/** What the database itself refuses, whoever sees the other row: that there is one is told, and nothing of it. */
const CONFLICTS =
  /^\{"error":"(code already exists|a related row is still in use|a related row does not exist)"\}$/;

/** @returns false when the two are no longer alike, as behind a row that the caller has made their own. */
async function compareWrite(pair: Pair, call: Call, statuses: Statuses): Promise<boolean> {
  const { one, two, caller } = pair;
  const answers = await Promise.all([ask(one, caller, call), ask(two, caller, call)]);
  count(statuses, answers[0].status);
  if (takesRow(caller, call) && answers.every(({ status }) => status < 300)) return false;
  for (const answer of answers) assertNothingTold(pair, call, answer);
  if (answers.some(({ text }) => CONFLICTS.test(text))) return false;
  assertAlike(pair, call, answers);
  return true;
}

const takesRow = (caller: Principal, { method, body }: Call) =>
  method !== 'POST' && body?.['ownerId'] === String(userOf(caller));

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
