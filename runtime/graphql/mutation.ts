import { failure } from '../errors.ts';
import { callerId, refusal, type Access } from '../data/access.ts';
import type { Change } from '../data/changes.ts';
import { assertConstraint, assertInput } from '../data/constraint.ts';
import { found, type EntityModel } from '../data/model.ts';
import type { Root } from '../data/plan.ts';
import type { Query } from '../data/reader.ts';
import { ROW_KEY, stored, TYPE_KEY } from '../data/scope.ts';
import { toStored } from '../data/values.ts';
import { createFrom, updateFrom } from '../data/write-input.ts';
import { deleteRow, type Writing } from '../data/writer.ts';
import type { Action, ArgumentPath, Operation } from '@twofold/schema';
import { CompiledQuery, type Transaction } from 'kysely';
import { readArguments, readCalls } from './arguments.ts';
import { clearLoaders } from './loaders.ts';
import type { RootPlan, WritePart } from './plan/operation.ts';
import { rootAccess, type Plan } from './plan/planner.ts';
import type { Outcome, Run } from './run.ts';

type WriteRoot = Extract<RootPlan, { kind: 'write' }>;
type WriteAction = Extract<Action, { kind: 'create' | 'update' | 'remove' }>;
type Arguments = Readonly<Record<string, unknown>>;

/** What a mutation did: the key of its row, null when there was none; and what was read of it in the same transaction. */
interface Done {
  readonly id: string | null;
  readonly parts: Parts;
  readonly clientMutationId: unknown;
}

/** What was read, and whether it is for the executor. */
interface Parts {
  readonly texts: readonly (string | null)[];
  readonly tree: boolean;
}

/**
 * Runs one mutation: checks, then everything it writes and what it answers with in one transaction, then the events.
 *
 * @throws AppError `BAD_USER_INPUT`, `FORBIDDEN`, `CONFLICT`, `NOT_FOUND`
 */
export async function performWrite(run: Run, root: WriteRoot, tree: boolean): Promise<Outcome> {
  const { engine, rules, variables, context } = run;
  const { operation } = root;
  const action = operation.action as WriteAction;
  const args = readArguments({ schema: engine.schema, variables }, { type: 'Mutation', field: operation.name, node: root.node });
  assertWriteArguments(run, operation, action, args);
  const access = accessTo(run, operation, action);
  const changes: Change[] = [];
  const done = await engine.store.transaction(async (trx) => {
    const writing: Writing = { model: engine.model, rules, caller: callerId(context.principal), dialect: engine.store.dialect, trx, now: engine.now(), changes };
    return perform(run, root, action, args, { writing, access, tree });
  });
  clearLoaders(context);
  run.batches.clear();
  engine.changes.publish(changes);
  return answer(run, root, done);
}

function assertWriteArguments({ engine: { model } }: Run, operation: Operation, action: WriteAction, args: Arguments): void {
  for (const { name, constraint } of operation.args) assertConstraint(constraint, args[name], name);
  if (action.kind !== 'remove') assertInput(model, found(model.writes.get(action.write), `input ${action.write}`), inputOf(action, args), action.input === undefined ? '' : `${action.input}.`);
}

const inputOf = (action: Extract<WriteAction, { kind: 'create' | 'update' }>, args: Arguments) =>
  (action.input === undefined ? args : (args[action.input] ?? {})) as Arguments;

const VERBS = { create: 'CREATE', update: 'UPDATE', remove: 'DELETE' } as const;

function accessTo({ engine, rules }: Run, operation: Operation, action: WriteAction): Access {
  const verb = VERBS[action.kind];
  const own = rules.operation(operation, verb);
  const access = own.kind === 'none' ? own : rootAccess({ model: engine.model, rules }, own, action.entity, verb);
  if (access.kind === 'none') throw refusal(access.code);
  return access;
}

interface Performing {
  readonly writing: Writing;
  readonly access: Access;
  readonly tree: boolean;
}

async function perform(run: Run, root: WriteRoot, action: WriteAction, args: Arguments, performing: Performing): Promise<Done> {
  const { writing, access } = performing;
  const { model } = run.engine;
  const clientMutationId = clientIdOf(action, args);
  if (action.kind === 'create') {
    const id = await createFrom(writing, found(model.writes.get(action.write), `input ${action.write}`), inputOf(action, args), access);
    return { id, clientMutationId, parts: await readParts(run, root, id, performing) };
  }
  const entity = model.entity(action.entity);
  const id = keyOf(run, entity, argumentAt(args, action.id));
  const nothing: Parts = { texts: [], tree: performing.tree };
  if (id === null) return { id, clientMutationId, parts: nothing };
  if (action.kind === 'remove') return { clientMutationId, ...(await remove(run, root, entity, id, performing)) };
  const there = await updateFrom(writing, found(model.writes.get(action.write), `input ${action.write}`), id, inputOf(action, args), access);
  return { id: there ? id : null, clientMutationId, parts: there ? await readParts(run, root, id, performing) : nothing };
}

function clientIdOf(action: WriteAction, args: Arguments): unknown {
  const input = action.kind !== 'remove' && action.input !== undefined ? (args[action.input] as Arguments | undefined) : args;
  return input?.['clientMutationId'] ?? (args['input'] as Arguments | undefined)?.['clientMutationId'] ?? null;
}

const argumentAt = (args: Arguments, path: ArgumentPath): unknown => path.reduce<any>((value, name) => value?.[name], args);

function keyOf({ engine }: Run, entity: EntityModel, value: unknown): string | null {
  const key = toStored(value, stored(engine.model, entity, 'id'), engine.model.ids, engine.store.dialect);
  return key === null ? null : String(key);
}

/** A removed row is read before it goes: for the answer, and for who subscribed to it. */
async function remove(run: Run, root: WriteRoot, entity: EntityModel, id: string, performing: Performing): Promise<Pick<Done, 'id' | 'parts'>> {
  const { writing, access } = performing;
  const parts = await readParts(run, root, id, performing);
  const row = run.engine.watchesRemoval(entity.entity.name) ? await readRow(run, entity, id, writing) : undefined;
  if (!(await deleteRow(writing, entity, id, access))) return { id: null, parts: { texts: [], tree: performing.tree } };
  writing.changes.push({ entity: entity.entity.name, kind: 'deleted', id, ...(row && { row }) });
  return { id, parts };
}

const inTransaction = (trx: Transaction<any>): Query => async (text, values) => (await trx.executeQuery<Record<string, unknown>>(CompiledQuery.raw(text, [...values]))).rows;

/** As texts; as trees when one has something in it that the executor must explain. */
async function readParts(run: Run, root: WriteRoot, id: string, performing: Performing): Promise<Parts> {
  const { reader } = run.engine;
  const texts: (string | null)[] = [];
  for (const part of root.parts) {
    const text = part.kind === 'entity' && !('code' in part.plan) ? await readPart(run, part.plan, id, performing) : null;
    if (!performing.tree && text?.includes(reader.marker)) return readParts(run, root, id, { ...performing, tree: true });
    texts.push(text);
  }
  return { texts, tree: performing.tree };
}

async function readPart({ engine, rules, variables }: Run, plan: Plan<Root>, id: string, { writing, tree }: Performing): Promise<string | null> {
  const calls = readCalls({ model: engine.model, schema: engine.schema, rules, variables }, plan.calls, id);
  return (await engine.reader.read(plan.node, calls, { rules, tree, caller: writing.caller, query: inTransaction(writing.trx) })) as string | null;
}

/** The row as it is, whoever asks: who may see it is decided for each subscriber. */
async function readRow({ engine }: Run, { entity }: EntityModel, id: string, writing: Writing): Promise<Record<string, unknown> | undefined> {
  const root = { kind: 'get' as const, entity: entity.name, call: 0, shape: { entity: entity.name, fields: [], row: true }, owners: [] };
  const text = await engine.reader.read(root, [{ equals: [{ column: 'id', value: id }], order: [] }], { rules: writing.rules, tree: false, caller: writing.caller, query: inTransaction(writing.trx) });
  return text === null ? undefined : JSON.parse(text as string)[ROW_KEY];
}

function answer({ engine }: Run, root: WriteRoot, done: Done): Outcome {
  const { tree } = done.parts;
  const action = root.operation.action as WriteAction;
  const entity = engine.model.entity(action.entity);
  const payload = action.returns.kind === 'payload';
  if (done.id === null && !root.parts.some(({ kind }) => kind === 'ok') && (payload || root.operation.type.required)) {
    throw failure.notFound(`${entity.entity.name} not found`);
  }
  const texts = root.parts.map((part, index) => partText(part, done, index, entity));
  if (!payload) return asOutcome(texts[0] ?? null, tree);
  const members = root.parts.map(({ key }, index) => `${JSON.stringify(key)}:${texts[index] ?? 'null'}`);
  return asOutcome(`{${[...(tree ? [`"${TYPE_KEY}":${JSON.stringify(root.type)}`] : []), ...members].join(',')}}`, tree);
}

const asOutcome = (text: string | null, tree: boolean): Outcome => (tree ? { tree: text === null ? null : JSON.parse(text) } : { text });

function partText(part: WritePart, done: Done, index: number, { entity, global }: EntityModel): string | null {
  switch (part.kind) {
    case 'typename':
      return JSON.stringify(part.value);
    case 'ok':
      return String(done.id !== null);
    case 'id':
      return done.id === null ? null : JSON.stringify(global ? `${entity.name}:${done.id}` : done.id);
    case 'clientMutationId':
      return JSON.stringify(done.clientMutationId);
    case 'entity':
      if (done.id === null) return null;
      if ('code' in part.plan) throw refusal(part.plan.code);
      if (done.parts.texts[index] === null) throw failure.forbidden();
      return done.parts.texts[index] ?? null;
  }
}
