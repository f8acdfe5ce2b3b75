import type { Explain, Explained, ExplainedStatement } from '../../context/explained.ts';
import type { Principal, RequestContext } from '../../context/request-context.ts';
import { failure } from '../../errors.ts';
import type { Kernel } from '../../module.ts';
import { findService } from '../../own-context/services.ts';
import { checkCost, costOf, createMeasure } from '@twofold/schema';
import {
  createDocumentCache,
  type DocumentOptions,
  type PreparedOperation,
} from '../document-cache.ts';
import { createDryEngine, type DryEngineOptions, dryContext, MARKER } from '../dry-engine.ts';
import { type Engine, isOwn } from '../engine.ts';
import type { Run } from '../operation-run.ts';
import { type Parameters, readParameters } from '../parameters.ts';
import { errorsOf, RequestErrors, showErrors } from '../response.ts';
import { type OperationRequest, startRun } from '../run.ts';
import { findOperation } from '../service.ts';
import { MADE_UP, shown, shownText, explainRoots, type ExplainedRoot } from './roots.ts';
import { hide, type Secrets, secretsOf } from './secrets.ts';
import { outOfTime } from '../../store/bounds.ts';
import {
  getNamedType,
  type GraphQLNamedType,
  isAbstractType,
  isInterfaceType,
  isObjectType,
  type SelectionSetNode,
} from 'graphql';
import { isIncluded } from '../plan/collect.ts';

export interface ExplainOptions extends Omit<DryEngineOptions, 'kernel' | 'dialect' | 'key'> {
  readonly kernel: Kernel;
  /** What plugins add to the validation of documents. */
  readonly documents: Pick<DocumentOptions, 'own' | 'read'>;
}

/** How many explained documents are cached. A person writes them one after the other. */
const CACHE = { entries: 50, bytes: 4_000_000 };

interface Explainer {
  readonly engine: Engine;
  readonly kernel: Kernel;
  readonly documents: ReturnType<typeof createDocumentCache>;
}

/**
 * Explains operations. Planner, rules and writers are those of the server, but the store only
 * records statements. The database is asked for the plan of each statement, and runs none.
 *
 * @example (await explain({ query: '{ posts { id } }' }, context)).statements[0].plan // ['SCAN posts']
 */
export function createExplain({ documents: own, kernel, ...options }: ExplainOptions): Explain {
  const { project, store } = kernel;
  const { dialect } = store;
  const key = MADE_UP[project.ids];
  const engine = createDryEngine({ ...options, kernel, dialect, key, now: kernel.now });
  // Whoever may explain operations may read the schema, so suggestions in errors are not hidden.
  const documents = createDocumentCache({
    schema: engine.schema,
    limits: project.api.limits,
    introspection: true,
    suggestions: true,
    ...own,
    ...CACHE,
  });
  const explainer = { engine, kernel, documents };
  return async (question, context) => {
    const principal = await callerOf(explainer, question.as, context);
    try {
      const parameters = readParameters({ ...question });
      return await explain(explainer, parameters, { context, principal });
    } catch (thrown) {
      if (!(thrown instanceof RequestErrors)) throw thrown;
      return { refused: formatted(thrown.errors, context) };
    }
  };
}

/** @throws AppError 400 */
async function callerOf(
  { kernel }: Explainer,
  as: unknown,
  context: RequestContext,
): Promise<Principal> {
  if (as === undefined || as === null) return context.principal;
  if (as === 'public') return { kind: 'anonymous' };
  const id = (as as { user_id?: unknown }).user_id;
  if (typeof id !== 'string' && typeof id !== 'number')
    throw failure.badRequest('as must be "public" or {"user_id": …}');
  const principal = await findService(kernel.store, 'principalOf')?.(id);
  if (!principal) throw failure.badRequest('as.user_id names no user who can sign in');
  return principal;
}

interface Asking {
  readonly context: RequestContext;
  readonly principal: Principal;
}

async function explain(
  explainer: Explainer,
  parameters: Parameters,
  { context, principal }: Asking,
): Promise<Explained> {
  const { engine, kernel } = explainer;
  const operation = await operationOf(explainer, parameters, context);
  const { variables } = parameters;
  const cost = checkCost(engine, operation, variables);
  if ('over' in cost) throw new RequestErrors([cost.over]);
  const { nested } = cost;
  const asked = dryContext(kernel, principal);
  const run = runOf(engine, { operation, variables, context: asked, nested });
  const roots = await explainRoots(run);
  const errors = roots.flatMap(({ error }) => error ?? []);
  if (errors.length > 0 && errors.length === roots.length) throw new RequestErrors(errors);
  const secrets = secretsOf(run, variables);
  return {
    statements: await statementsOf(explainer, roots, { context, secrets }),
    functions: [...new Set([...functionsOf(run), ...roots.flatMap((root) => root.functions)])],
    depth: createMeasure(operation.fragments)(operation.node).depth,
    cost: costOf(engine, operation, variables, nested).value,
    ...(errors.length > 0 && { errors: formatted(errors, context) }),
  };
}

async function operationOf(
  { documents }: Explainer,
  parameters: Parameters,
  context: RequestContext,
): Promise<PreparedOperation> {
  // An operation that is not on the list of trusted documents may be explained: it does not run.
  const source = { listed: new Set<string>(), textOf: ({ query }: Parameters) => query ?? '' };
  if (parameters.query === undefined) throw failure.badRequest('query is required');
  try {
    return await findOperation({ documents, source }, parameters, context);
  } catch (thrown) {
    throw new RequestErrors(errorsOf(thrown));
  }
}

function runOf(engine: Engine, request: OperationRequest): Run {
  const run = startRun(engine, request);
  if ('errors' in run) throw new RequestErrors(run.errors);
  return run;
}

/** The statements of all root fields, each with its plan. */
async function statementsOf(
  { engine, kernel }: Explainer,
  roots: readonly ExplainedRoot[],
  { context, secrets }: { readonly context: RequestContext; readonly secrets: Secrets },
): Promise<ExplainedStatement[]> {
  const plans = createPlans(kernel, context);
  const statements: ExplainedStatement[] = [];
  for (const { key, statements: noted } of roots)
    for (const { text, values } of noted) {
      const hidden = values.map((value) => hide(value, secrets));
      const plan = await plans(text, hidden);
      statements.push({
        path: [key],
        sql: text.replaceAll(engine.reader.marker, MARKER),
        parameters: hidden.map(shown),
        plan: plan.map((line) => shownText(line.replaceAll(engine.reader.marker, MARKER))),
      });
    }
  return statements;
}

const formatted = (errors: RequestErrors['errors'], context: RequestContext) =>
  showErrors(errors, context).map(({ formatted: shown }) => shown);

/** Asks the database for its plan of a statement, as lines. */
type PlanOf = (text: string, values: readonly unknown[]) => Promise<readonly string[]>;

/**
 * Asks the database how it would run statements, within the limits of an answer. Without `ANALYZE`
 * it runs none of them, which holds for writes too. A text is planned once.
 */
function createPlans({ store, project }: Kernel, context: RequestContext): PlanOf {
  const { limits } = project.api;
  const bounds = { asker: context, limits, sent: false };
  const planned = new Map<string, readonly string[]>();
  const until = performance.now() + limits.time;
  const prefix = store.dialect === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  return async (text, values) => {
    const known = planned.get(text);
    if (known) return known;
    if (performance.now() > until) throw outOfTime(limits);
    const rows = await store.answerRows({ text: `${prefix} ${text}` }, values, bounds);
    const lines = store.dialect === 'sqlite' ? sqliteLines(rows) : rows.map(postgresLine);
    planned.set(text, lines);
    return lines;
  };
}

type Row = Readonly<Record<string, unknown>>;

const postgresLine = (row: Row) => String(row['QUERY PLAN']);

/** SQLite's rows as lines. Each row names its parent row, which decides the indentation. */
function sqliteLines(rows: readonly Row[]): string[] {
  const depths = new Map<unknown, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = depths.get(parent) ?? 0;
    depths.set(id, depth + 1);
    return `${'  '.repeat(depth)}${String(detail)}`;
  });
}

/**
 * The functions of the project that answer fields of an operation, as `Type.field`. A field of an
 * interface stands for those of its members.
 */
function functionsOf({ engine, operation, variables }: Run): readonly string[] {
  const { schema } = engine;
  const found = new Set<string>();
  const spread = new Set<string>();
  const walk = ({ selections }: SelectionSetNode, type: GraphQLNamedType): void => {
    for (const selection of selections) {
      if (!isIncluded({ variables: variables.coerced }, selection.directives ?? [])) continue;
      if (selection.kind === 'Field') {
        const { value: name } = selection.name;
        for (const { name: owner } of membersOf(type))
          if (isOwn(engine, owner, name)) found.add(`${owner}.${name}`);
        const field = isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : null;
        if (field && selection.selectionSet) walk(selection.selectionSet, getNamedType(field.type));
        continue;
      }
      if (selection.kind === 'InlineFragment') {
        walk(selection.selectionSet, typeNamed(selection.typeCondition?.name.value) ?? type);
        continue;
      }
      const fragment = operation.fragments.get(selection.name.value);
      if (!fragment || spread.has(fragment.name.value)) continue;
      spread.add(fragment.name.value);
      walk(fragment.selectionSet, typeNamed(fragment.typeCondition.name.value) ?? type);
    }
  };
  const typeNamed = (name: string | undefined) => (name ? schema.getType(name) : undefined);
  const membersOf = (type: GraphQLNamedType) =>
    isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
  const root = schema.getRootType(operation.node.operation);
  if (root) walk(operation.node.selectionSet, root);
  return [...found];
}
