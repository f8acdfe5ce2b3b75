import type { Project } from '@twofold/schema';
import type { Principal, RequestContext } from '../context/request-context.ts';
import { createValues } from '../context/values.ts';
import { InternalError } from '../errors.ts';
import type { Kernel } from '../module.ts';
import type { Resolvers, ScalarMapping } from '../plugin.ts';
import { createAnswerMemory } from '../store/answer-memory.ts';
import type { Dialect, Query, Store } from '../store/store.ts';
import { createDocumentCache, type PreparedOperation } from './document-cache.ts';
import type { Engine } from './engine.ts';
import { createEngine } from './index.ts';
import type { OperationPlan } from './plan/operation.ts';
import { printPlan } from './plan/print.ts';
import { runOperation, startRun } from './run.ts';

/** What the server would ask its database for one operation. */
export interface DryRun {
  /** The name of the first sample caller that is not refused. */
  readonly as: string;
  /** Where each member of the answer comes from, see `printPlan`. */
  readonly plan: string;
  /** In the order of execution, with placeholders for values. */
  readonly statements: readonly string[];
}

export interface DryRunOptions {
  readonly kernel: Pick<Kernel, 'project' | 'settings' | 'log' | 'root'>;
  readonly dialect: Dialect;
  /** The project's resolvers. They are not called: a field that one answers is null. */
  readonly resolvers: Resolvers;
  readonly scalars: Readonly<Record<string, ScalarMapping>>;
}

/**
 * Runs operations without a database: planner, rules and writers are those of the server, but each
 * statement is only recorded and answered with one made-up row.
 *
 * @returns null for an operation that is not valid, or that is refused to every caller.
 * @example (await dryRun('{ posts { id } }'))?.statements // ['select (select json_group_array(…']
 */
export function createDryRun({
  kernel,
  dialect,
  resolvers,
  scalars,
}: DryRunOptions): (document: string) => Promise<DryRun | null> {
  const noted: string[] = [];
  const project = withoutConstraints(kernel.project) as Project;
  const store = notingStore(dialect, project, noted);
  const engine = createEngine(
    { ...kernel, project, store, now: () => 0 },
    silent(resolvers),
    scalars,
  );
  const documents = createDocumentCache({
    schema: engine.schema,
    limits: project.api.limits,
    introspection: false,
    suggestions: false,
  });
  return async (document) => {
    const operation = documents.get(document).prepared?.operations[0];
    if (!operation) return null;
    for (const [as, principal] of callersOf(project)) {
      const plan = await planOf(engine, operation, contextOf(kernel, principal));
      const statements = noted
        .splice(0)
        .map((text) => text.replaceAll(engine.reader.marker, MARKER));
      if (plan) return { as, plan: printPlan(plan), statements };
    }
    return null;
  };
}

/**
 * Replaces the marker in printed statements, because the marker differs each time a server starts.
 */
const MARKER = '$marker';

/**
 * Sample callers, in the order in which they are tried: anonymous, the simplest user, then a user
 * of each role.
 */
function callersOf({ auth, ids }: Project): [string, Principal][] {
  const user = (name: string | null): Principal => ({
    kind: 'user',
    id: keyOf(ids),
    role: name === null ? null : { id: 1, name },
    permissions: [],
    sessionId: '',
    extend: {},
  });
  const usual = auth?.roles?.default ?? null;
  const others = (auth?.roles?.list ?? []).filter((name) => name !== usual);
  return [
    ['anyone', { kind: 'anonymous' }],
    ['a signed-in user', user(usual)],
    ...others.map((name): [string, Principal] => [`a user with the role ${name}`, user(name)]),
  ];
}

/** The plan that was run; null when the caller is refused. */
async function planOf(
  engine: Engine,
  operation: PreparedOperation,
  context: RequestContext,
): Promise<OperationPlan | null> {
  const request = { operation, variables: {}, context };
  const run = startRun(engine, request);
  if ('errors' in run || holdsRefusal(run.plan)) return null;
  const answer = await runOperation(engine, request);
  const errors = 'result' in answer ? (answer.result.errors ?? []) : [];
  return errors.some(({ originalError }) =>
    REFUSALS.includes(String((originalError as { code?: unknown } | undefined)?.code)),
  )
    ? null
    : run.plan;
}

const REFUSALS = ['UNAUTHENTICATED', 'FORBIDDEN'];

/**
 * Below a root, the database marks what is refused. A dry run has no database, so refusals are read
 * from the plan.
 */
const holdsRefusal = (plan: OperationPlan) => JSON.stringify(plan).includes('"kind":"refused"');

function contextOf({ log }: Pick<Kernel, 'log'>, principal: Principal): RequestContext {
  return {
    id: '',
    ip: '',
    headers: {},
    values: createValues(),
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
    sudo: () => contextOf({ log }, principal),
    as: refuseToRun,
    transaction: refuseToRun,
    afterCommit: () => {},
    lock: refuseToRun,
    publish: () => {},
    principal,
    user: principal.kind === 'user' ? principal : null,
  };
}

/** Removes constraints, because the made-up values of a dry run may violate them. */
function withoutConstraints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutConstraints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      name === 'constraint' ? [] : [[name, withoutConstraints(inner)]],
    ),
  );
}

function silent(resolvers: Resolvers): Resolvers {
  return Object.fromEntries(
    Object.entries(resolvers).map(([type, fields]) => [
      type,
      Object.fromEntries(Object.keys(fields).map((name) => [name, () => null])),
    ]),
  );
}

function notingStore(dialect: Dialect, { ids }: Project, noted: string[]): Store {
  // A made-up row in the form that a plan reads. Only the columns below are used.
  const row = { id: keyOf(ids), i: 0, j: '{"$":""}' };
  const query: Query = async (text) => (noted.push(text), [row]);
  return {
    dialect,
    get db(): never {
      throw noDatabase();
    },
    query: query as Store['query'],
    answer: async ({ text }) => (noted.push(text), row.j),
    valueLater: refuseToRun,
    answerRows: ({ text }, values) => query(text, values),
    memory: createAnswerMemory(),
    transact: (work) => work(query),
    transaction: refuseToRun,
    transactionLater: (work) => work(),
    transactionIfNeeded: (work) => work(),
    untouched: true,
    connections: () => ({ used: 0, idle: 0, waiting: 0 }),
    structuralTransaction: refuseToRun,
    afterCommit: (work) => work(),
    keep: refuseToRun,
    transactionTimeout: Infinity,
    lock: refuseToRun,
    close: async () => {},
  };
}

const keyOf = (ids: Project['ids']) =>
  ids === 'uuid' ? '019aa000-0000-7000-8000-000000000001' : 1;

const refuseToRun = () => Promise.reject(noDatabase());

const noDatabase = () => new InternalError('a dry run has no database');
