import { type Project, remembered } from '@twofold/schema';
import type { Principal, RequestContext } from '../context/request-context.ts';
import { createDocumentCache, type PreparedOperation } from './document-cache.ts';
import {
  createDryEngine,
  dryContext,
  type DryEngineOptions,
  keyOf,
  MARKER,
  noting,
} from './dry-engine.ts';
import type { Engine } from './engine.ts';
import type { OperationPlan } from './plan/operation.ts';
import { printPlan } from './plan/print.ts';
import { runOperation, startRun } from './run.ts';

/** The statements that the server would run for one operation. */
export interface DryRun {
  /** The name of the first sample caller that is not refused. */
  readonly as: string;
  /** Where each member of the answer comes from, see `printPlan`. */
  readonly plan: string;
  /** In the order of execution, with placeholders for values. */
  readonly statements: readonly string[];
}

export type DryRunOptions = Pick<DryEngineOptions, 'kernel' | 'dialect' | 'resolvers' | 'scalars'>;

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
  const project = unconstrained(kernel.project);
  const engine = createDryEngine({
    kernel: { ...kernel, project },
    dialect,
    resolvers,
    scalars,
  });
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
      const { result: plan, notes } = await noting(() =>
        planOf(engine, operation, dryContext(kernel, principal)),
      );
      const statements = notes.statements.map(({ text }) =>
        text.replaceAll(engine.reader.marker, MARKER),
      );
      if (plan) return { as, plan: printPlan(plan), statements };
    }
    return null;
  };
}

/**
 * Sample callers, in the order in which they are tried: anonymous, the simplest user, then a user
 * of each role. Users belong to an organization by each role that it gives.
 */
function callersOf({ auth, ids }: Project): [string, Principal][] {
  const user = (name: string | null): Principal => ({
    kind: 'user',
    id: keyOf(ids),
    role: name === null ? null : { id: 1, name },
    permissions: [],
    sessionId: '',
    extend: {},
    ...(auth?.organizations && {
      organizations: auth.organizations.roles.map((role) => ({ id: keyOf(ids), role })),
    }),
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

/** Without constraints, because the made-up values of a dry run may violate them. */
const unconstrained = remembered((project: Project) => withoutConstraints(project) as Project);

function withoutConstraints(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutConstraints);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      name === 'constraint' ? [] : [[name, withoutConstraints(inner)]],
    ),
  );
}
