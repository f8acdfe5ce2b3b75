import { type GraphQLError, locatedError } from 'graphql';
import { ROOT_NAMES } from '../../data/model.ts';
import { type NotedStatement, noting } from '../dry-engine.ts';
import { isOwn, rootName } from '../engine.ts';
import { notImplemented } from '../errors.ts';
import { readPlan, type Run } from '../operation-run.ts';
import type { RootPlan } from '../plan/operation.ts';
import { settle } from '../run.ts';

/** What the server does for one root field. */
export interface ExplainedRoot {
  readonly key: string;
  readonly statements: readonly NotedStatement[];
  readonly functions: readonly string[];
  /** The error that the caller would get. */
  readonly error?: GraphQLError;
}

/** Runs one root field after another over a store that only notes statements. */
export async function explainRoots(run: Run): Promise<ExplainedRoot[]> {
  const { roots, pure } = run.plan;
  // Must be the same decision as in `runOperation`: for the executor, statements read whole rows.
  const isText = pure && (run.operation.node.operation !== 'mutation' || roots.length === 1);
  const explained: ExplainedRoot[] = [];
  for (const root of roots) explained.push(await explainRoot(run, root, !isText));
  return explained;
}

async function explainRoot(run: Run, root: RootPlan, tree: boolean): Promise<ExplainedRoot> {
  const { key, node } = root;
  const { result, notes } = await noting(() => perform(run, root, tree));
  const { statements, functions } = notes;
  // Once a statement has run, an error only comes from the made-up row in its answer, so it is not
  // reported.
  const failed = statements.length === 0 && 'error' in result;
  return {
    key,
    statements,
    functions: [...functions],
    ...(failed && { error: locatedError(result.error, [node], [key]) }),
  };
}

async function perform(run: Run, root: RootPlan, tree: boolean): Promise<object> {
  if (isUnwritten(run, root)) return { error: notImplemented(coordinateOf(run, root)) };
  if (root.kind !== 'event') return settle(run, root, tree);
  return readEvent(run, root).catch((error: unknown) => ({ error }));
}

const coordinateOf = ({ operation }: Run, { node }: RootPlan) =>
  `${ROOT_NAMES[operation.node.operation]}.${node.name.value}`;

/** Whether the project has to write a function for the field, and has none. */
function isUnwritten(run: Run, root: RootPlan): boolean {
  const { engine, operation } = run;
  const kind = operation.node.operation;
  const known = engine.model.operations.get(coordinateOf(run, root));
  const isWritten = isOwn(engine, rootName(engine, kind) ?? '', root.node.name.value);
  return root.kind === 'function' && known?.action.kind === 'custom' && !isWritten;
}

/** The row of an event of a subscription, as `subscription.ts` reads it. */
async function readEvent(
  run: Run,
  { plan }: Extract<RootPlan, { kind: 'event' }>,
): Promise<object> {
  const key = String(MADE_UP[run.engine.model.ids]);
  await readPlan(run, plan, { key, tree: !plan.pure });
  return {};
}

/**
 * The key of rows that only the database will know. It fits an `integer` of PostgreSQL, and no real
 * row is likely to have it.
 */
export const MADE_UP = {
  integer: 2_107_483_629,
  uuid: 'ffffffff-ffff-7fff-bfff-ffffffffffff',
} as const;

const KEYS: readonly string[] = Object.values(MADE_UP).map(String);

/** The text that is shown in place of the made-up id. */
const SHOWN = '<id>';

/** Characters of a parameter that are shown, so that a large one does not fill the answer. */
const LONGEST = 1000;
const MOST = 100;

/** A parameter as it is shown: text of at most 1,000 characters, a list of at most 100 values. */
export function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value);
  if (typeof value === 'bigint') return String(value);
  if (value === MADE_UP.integer) return SHOWN;
  if (!Array.isArray(value)) return value ?? null;
  const more = value.length - MOST;
  return [...value.slice(0, MOST).map(shown), ...(more > 0 ? [`… ${more} more`] : [])];
}

/** A text without made-up keys, and cut. */
export function shownText(text: string): string {
  const known = KEYS.reduce((changed, key) => changed.replaceAll(key, SHOWN), text);
  return known.length <= LONGEST
    ? known
    : `${known.slice(0, LONGEST)}… (${known.length} characters)`;
}
