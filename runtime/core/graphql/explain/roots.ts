import { type GraphQLError, locatedError } from 'graphql';
import { callerId } from '../../data/access/access.ts';
import { ROOT_NAMES } from '../../data/model.ts';
import { readCalls } from '../arguments.ts';
import { type NotedStatement, noting } from '../dry-engine.ts';
import { isOwn, rootName } from '../engine.ts';
import { notImplemented } from '../errors.ts';
import { readingOf, type Run } from '../operation-run.ts';
import type { RootPlan } from '../plan/operation.ts';
import { settle } from '../run.ts';
import { MADE_UP } from './made-up.ts';

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
  const {
    engine: { model, reader },
    rules,
    context,
  } = run;
  const key = String(MADE_UP[model.ids]);
  const calls = readCalls(readingOf(run), plan.calls, key);
  const caller = callerId(context.principal);
  await reader.read(plan.node, calls, { rules, caller, asker: context, tree: !plan.pure });
  return {};
}
