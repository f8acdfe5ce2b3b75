import { parseExact } from '../data/sql/exact-json.ts';
import type { Operation } from '@twofold/schema';
import { failure } from '../errors.ts';
import { refusal } from '../data/access/access.ts';
import { hasLists } from '../data/long.ts';
import type { EntityModel } from '../data/model.ts';
import type { Root } from '../data/plan.ts';
import type { Query } from '../data/reader.ts';
import { TYPE_KEY } from '../data/sql/scope.ts';
import type { Returning } from '../data/write/write-request.ts';
import { performAction, type WriteAction, type Written } from '../data/write/write-action.ts';
import { performMany, type ManyWritten } from '../data/write/write-many.ts';
import { readArguments, readCalls, type WrittenKey } from './arguments.ts';
import type { Engine } from './engine.ts';
import { memberFor } from './error-members.ts';
import { clearLoaders } from './loaders.ts';
import type { RootPlan, WritePart } from './plan/operation.ts';
import { ownName } from './plan/own-parent.ts';
import type { Plan } from './plan/planning.ts';
import { type Outcome, readPlan, type Run } from './operation-run.ts';
import { withTypes } from './typed-tree.ts';

type WriteRoot = Extract<RootPlan, { kind: 'write' }>;

/** A text for each part of the answer, and whether the executor has to process them. */
interface Parts {
  readonly texts: readonly (string | null)[];
  readonly tree: boolean;
}

/**
 * Runs one mutation of an operation and assembles its answer. Returns a promise unless the database
 * finished synchronously. A member of the result may take an error, but only one that undid the
 * write.
 */
export function performWrite(run: Run, root: WriteRoot, tree: boolean): Outcome | Promise<Outcome> {
  const { engine, context } = run;
  const undone = (error: unknown): Outcome => {
    if (!root.cases) throw error;
    return { tree: memberFor(root.cases, error, context) };
  };
  let args: Record<string, unknown>;
  const finish = (written: Written<Parts>): Outcome => {
    clearLoaders(context);
    run.batches.clear();
    if (isMissed(root, written)) return undone(notFound(engine, root));
    return answer(run, root, { written, tree, clientMutationId: clientIdOf(args) });
  };
  let written: Written<Parts> | Promise<Written<Parts>>;
  try {
    args = readArguments(run, 'Mutation', root.node);
    written = write(run, root, args, tree);
  } catch (error) {
    return undone(error);
  }
  return written instanceof Promise ? written.then(finish, undone) : finish(written);
}

function write(
  run: Run,
  root: WriteRoot,
  args: Record<string, unknown>,
  tree: boolean,
): Written<Parts> | Promise<Written<Parts>> {
  const { engine, rules, context } = run;
  const { operation } = root;
  const request = {
    operation,
    args,
    rules,
    asker: context,
    context,
  };
  const read = (key: WrittenKey, query: Query) => readParts(run, root, key, { query, tree });
  return isMany(operation)
    ? performMany<Parts>(engine, { ...request, read }).then(asWritten)
    : performAction<Parts>(engine, {
        ...request,
        read,
        long: root.parts.some((part) => isLong(run, part, tree)),
        returning: returningOf(run, root, tree),
      });
}

/** Whether the row did not exist, and the answer has no null or false to express that. */
const isMissed = ({ operation, parts, cases }: WriteRoot, { id }: Written<Parts>): boolean =>
  id === null &&
  (cases?.some(({ code }) => code === 'NOT_FOUND') ||
    (!parts.some(({ kind }) => kind === 'ok') &&
      (isPayload(operation) || operation.type.required)));

const isPayload = ({ action }: Operation) => (action as WriteAction).returns.kind === 'payload';

const notFound = ({ model }: Engine, { operation }: WriteRoot) =>
  failure.notFound(
    `${model.entity((operation.action as WriteAction).entity).entity.name} not found`,
  );

const isMany = ({ action }: Operation) =>
  ['createMany', 'updateMany', 'removeMany'].includes(action.kind);

const asWritten = ({ ids, read }: ManyWritten<Parts>): Written<Parts> & { count: number } => ({
  id: ids[0] ?? '',
  count: ids.length,
  read,
});

/** Whether reading a part of the answer may take long. Only lists can take long. */
function isLong(run: Run, part: WritePart, tree: boolean): boolean {
  if (part.kind !== 'entity' || 'code' in part.plan) return false;
  const { node, calls } = part.plan;
  if (node.kind !== 'get' || !hasLists(node.selection)) return false;
  const {
    engine: { reader },
    rules,
  } = run;
  return reader.isLong(node, readCalls(run, calls, ''), {
    rules,
    tree,
  });
}

/** The one part that shows the new row, when the inserting statement can return it. */
function returningOf(
  run: Run,
  { returning, parts }: WriteRoot,
  tree: boolean,
): Returning<Parts> | undefined {
  if (!returning) return undefined;
  return {
    root: returning.node,
    calls: readCalls(run, returning.calls, ''),
    tree,
    take: (text) =>
      withTypesIfMarked(run, parts, {
        texts: parts.map((part) => (part.kind === 'entity' ? text : null)),
        tree,
      }),
  };
}

/** `clientMutationId` is a member of the one input object, or an argument. */
function clientIdOf(args: Readonly<Record<string, any>>): unknown {
  if (args['clientMutationId'] !== undefined) return args['clientMutationId'];
  return (
    Object.values(args).find((value) => value?.clientMutationId !== undefined)?.clientMutationId ??
    null
  );
}

interface PartReading {
  readonly query: Query;
  /** The keys of the answer that lead to the part. */
  readonly above?: readonly string[];
  readonly tree: boolean;
}

async function readParts(
  run: Run,
  { key, parts }: WriteRoot,
  id: WrittenKey,
  reading: PartReading,
): Promise<Parts> {
  const texts: (string | null)[] = [];
  for (const part of parts)
    texts.push(
      isRead(part) && !('code' in part.plan)
        ? await readPart(run, part.plan, id, { ...reading, above: [key, part.key] })
        : null,
    );
  return withTypesIfMarked(run, parts, { texts, tree: reading.tree });
}

/** Whether a part of the answer is read from the database. */
const isRead = (part: WritePart): part is Extract<WritePart, { kind: 'entity' | 'rows' }> =>
  part.kind === 'entity' || part.kind === 'rows';

/** Returns the texts, or trees when one holds an error or null that the executor must report. */
function withTypesIfMarked(
  { engine: { reader } }: Run,
  parts: readonly WritePart[],
  { texts, tree }: Parts,
): Parts {
  if (tree || !texts.some((text) => text?.includes(reader.marker))) return { texts, tree };
  const typed = (part: WritePart, text: string | null) =>
    isRead(part) && !('code' in part.plan) && text !== null
      ? JSON.stringify(withTypes(part.plan.node, parseExact(text), reader.marker))
      : text;
  return { texts: parts.map((part, index) => typed(part, texts[index] ?? null)), tree: true };
}

async function readPart(
  run: Run,
  plan: Plan<Root>,
  id: WrittenKey,
  { query, tree, above = [] }: PartReading,
): Promise<string | null> {
  const keys = above.filter((key) => key !== '');
  return (await readPlan(run, plan, { key: id, above: keys, tree, query })) as string | null;
}

interface Done {
  readonly written: Written<Parts>;
  readonly tree: boolean;
  readonly clientMutationId: unknown;
}

function answer({ engine }: Run, root: WriteRoot, done: Done): Outcome {
  const action = root.operation.action as WriteAction;
  const entity = engine.model.entity(action.entity);
  const { written } = done;
  const tree = written.id === null ? done.tree : written.read.tree;
  const texts = root.parts.map((part, index) => partText(part, done, index, entity));
  if (!isPayload(root.operation)) return asOutcome(texts[0] ?? null, tree);
  const members = root.parts.map(
    ({ key }, index) => `${JSON.stringify(key)}:${texts[index] ?? 'null'}`,
  );
  return asOutcome(
    `{${[...(tree ? [`"${TYPE_KEY}":${JSON.stringify(root.type)}`] : []), ...members].join(',')}}`,
    tree,
  );
}

const asOutcome = (text: string | null, tree: boolean): Outcome =>
  tree ? { tree: text === null ? null : parseExact(text) } : { text };

function partText(
  part: WritePart,
  { written, clientMutationId }: Done,
  index: number,
  { entity, global }: EntityModel,
): string | null {
  switch (part.kind) {
    case 'typename':
      return JSON.stringify(part.value);
    case 'count':
      return String('count' in written ? written.count : 0);
    case 'rows':
      if ('code' in part.plan && ownName(part.key) === undefined) throw refusal(part.plan.code);
      return written.id === null ? null : (written.read.texts[index] ?? '[]');
    case 'ok':
      return String(written.id !== null);
    case 'id':
      return written.id === null
        ? null
        : JSON.stringify(global ? `${entity.name}:${written.id}` : written.id);
    case 'clientMutationId':
      return JSON.stringify(clientMutationId);
    case 'empty':
      return '[]';
    case 'entity':
      if (written.id === null) return null;
      // A function of the project gets no row that the caller may not read.
      if (ownName(part.key) !== undefined) return written.read.texts[index] ?? null;
      if ('code' in part.plan) throw refusal(part.plan.code);
      return written.read.texts[index] ?? hidden();
  }
}

/** The text tells the caller not to try again: the row is there, though they may not read it. */
function hidden(): never {
  throw failure.forbidden('The row is written, but the caller may not read it');
}
