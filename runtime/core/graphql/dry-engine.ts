import { AsyncLocalStorage } from 'node:async_hooks';
import type { Project } from '@twofold/schema';
import type { EntityHook, EntityHookOf, EntityHooks } from '../context/entity-hooks.ts';
import type { Principal, RequestContext } from '../context/request-context.ts';
import { createValues } from '../context/values.ts';
import { ROW_KEY } from '../data/sql/scope.ts';
import { addEntityHooks } from '../data-api/entity-hooks.ts';
import { InternalError } from '../errors.ts';
import type { Kernel } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import { createAnswerMemory } from '../store/answer-memory.ts';
import type { Dialect, Query, Store } from '../store/store.ts';
import type { Engine } from './engine.ts';
import { createEngine } from './create-engine.ts';

/** The record of a dry run: what it would have done. */
export interface Notes {
  readonly statements: NotedStatement[];
  /** Functions of the project that would have been called: `Post.beforeOperation`. */
  readonly functions: Set<string>;
}

export interface NotedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface DryEngineOptions {
  readonly kernel: Pick<Kernel, 'project' | 'settings' | 'log' | 'root'>;
  readonly dialect: Dialect;
  /** The project's resolvers. They are not called: a field that one answers is null. */
  readonly resolvers: Resolvers;
  readonly scalars: Readonly<Record<string, ScalarMapping>>;
  /** The lifecycle hooks of entities. They are recorded and not called. */
  readonly entityHooks?: readonly Readonly<Record<string, EntityHooks>>[];
  readonly now?: () => number;
  /** The made-up key of every row; 1 when absent. */
  readonly key?: number | string;
}

/**
 * Replaces the marker in printed statements, because the marker differs each time a server starts.
 */
export const MARKER = '$marker';

/** The runs of one process may overlap, so each has its own notes. */
const NOTES = new AsyncLocalStorage<Notes>();

/** Runs `work`, and notes what it would do. */
export async function noting<T>(work: () => Promise<T>): Promise<{ result: T; notes: Notes }> {
  const notes: Notes = { statements: [], functions: new Set() };
  return { result: await NOTES.run(notes, work), notes };
}

/**
 * An engine without a database. Planner, rules and writers are those of the server, but each
 * statement is only recorded, and answered with one made-up row.
 */
export function createDryEngine(options: DryEngineOptions): Engine {
  const { kernel, dialect, resolvers, scalars, entityHooks = [], now = () => 0 } = options;
  const { project, log } = kernel;
  const store = notingStore(dialect, options.key ?? keyOf(project.ids));
  const engine = createEngine({ ...kernel, store, now }, silent(resolvers), scalars);
  addEntityHooks(engine, entityHooks.map(silentHooks), () => dryContext({ log }, SYSTEM));
  return engine;
}

const SYSTEM: Principal = { kind: 'system' };

/** The made-up key of a row. */
export const keyOf = (ids: Project['ids']): number | string =>
  ids === 'uuid' ? '019aa000-0000-7000-8000-000000000001' : 1;

/** The context of a dry run: it has a caller, and nothing else can be done with it. */
export function dryContext({ log }: Pick<Kernel, 'log'>, principal: Principal): RequestContext {
  return {
    id: '',
    ip: '',
    headers: {},
    values: createValues(),
    attempt: 1,
    log,
    signal: new AbortController().signal,
    cancelled: false,
    cancel: () => {},
    get db(): never {
      throw noDatabase();
    },
    loaders: {},
    get data(): never {
      throw noDatabase();
    },
    get auth(): never {
      throw noDatabase();
    },
    get jobs(): never {
      throw noDatabase();
    },
    graphql: refuseToRun,
    sudo: () => dryContext({ log }, principal),
    as: refuseToRun,
    transaction: refuseToRun,
    afterCommit: () => {},
    lock: refuseToRun,
    publish: () => {},
    principal,
    user: principal.kind === 'user' ? { ...principal, id: String(principal.id) } : null,
  };
}

function silent(resolvers: Resolvers): Resolvers {
  return Object.fromEntries(
    Object.entries(resolvers).map(([type, fields]) => [
      type,
      Object.fromEntries(Object.keys(fields).map((name) => [name, () => null])),
    ]),
  );
}

const silentHooks = (hooks: Readonly<Record<string, EntityHooks>>) =>
  Object.fromEntries(
    Object.entries(hooks).map(([entity, each]) => [
      entity,
      Object.fromEntries(
        Object.entries(each).map(([name, hook]) => [name, silentHook(`${entity}.${name}`, hook)]),
      ),
    ]),
  );

function silentHook(name: string, hook: EntityHookOf): EntityHookOf {
  const note: EntityHook = () => void NOTES.getStore()?.functions.add(name);
  if (typeof hook === 'function') return note;
  return Object.fromEntries(Object.keys(hook).map((operation) => [operation, note]));
}

function notingStore(dialect: Dialect, key: number | string): Store {
  // A made-up row in the form that a plan reads. Only the columns below are used.
  const row = { id: key, i: 0, j: JSON.stringify({ $: '', [ROW_KEY]: { id: key } }) };
  const note = (text: string, values: readonly unknown[]) =>
    void NOTES.getStore()?.statements.push({ text, values });
  const query: Query = async (text, values) => (note(text, values), [row]);
  return {
    dialect,
    get db(): never {
      throw noDatabase();
    },
    query: query as Store['query'],
    answer: async ({ text }, values) => (note(text, values), row.j),
    valueLater: refuseToRun,
    answerRows: ({ text }, values) => query(text, values),
    memory: createAnswerMemory(),
    transact: (work) => work(query),
    transaction: refuseToRun,
    transactionLater: (work) => work(),
    transactionIfNeeded: (work) => work(),
    untouched: true,
    scope: () => undefined,
    connections: () => ({ used: 0, idle: 0, waiting: 0 }),
    structuralTransaction: refuseToRun,
    afterCommit: (work) => work(),
    keep: refuseToRun,
    own: { timeout: Infinity, isolation: 'serializable', warns: false },
    lock: refuseToRun,
    close: async () => {},
  };
}

const refuseToRun = () => Promise.reject(noDatabase());

const noDatabase = () => new InternalError('a dry run has no database');
