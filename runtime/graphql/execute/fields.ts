import { AppError } from '../../errors.ts';
import { TYPE_KEY } from '../../data/scope.ts';
import { type Execution, nullWithError, type Path, resolveInfo } from './execution.ts';
import type { ExecutableField, Fields, Text } from './field.ts';
import { leafText, quote, Writer } from './text.ts';
import { assertNoError, isThenable } from './value.ts';

type Members = Record<string, unknown>;

/** The text of one object of the answer, or a promise of it. */
export function executeFields(execution: Execution, fields: Fields, source: unknown, path: Path | undefined): string | Promise<string> {
  const object = typeof source === 'object' && source !== null ? (source as Members) : undefined;
  const from: Source = { value: source, object, tree: object !== undefined && TYPE_KEY in object, path };
  const writer = new Writer('{');
  try {
    for (const field of fields) writer.add(field.lead, (object && atHand(field, object, from.tree)) ?? executeField(execution, field, from));
  } catch (thrown) {
    writer.abandon();
    throw thrown;
  }
  return writer.end('}');
}

/** Most members of what a plan read, and of objects out of memory, are the answer's own already. */
function atHand({ plain, reads, leaf, key, name }: ExecutableField, object: Members, tree: boolean): string | undefined {
  if (!tree) return leaf && reads.fromMember ? leafText(leaf, object[name]) : undefined;
  if (!plain || !reads.fromTree) return undefined;
  const value = object[key];
  if (typeof value === 'string') return quote(value);
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The object that fields are of. */
export interface Source {
  readonly value: unknown;
  readonly object: Members | undefined;
  /** Whether a plan read it. */
  readonly tree: boolean;
  readonly path: Path | undefined;
}

/** One field, run as the specification has it in section 6.4, "Executing Fields". */
export function executeField(execution: Execution, field: ExecutableField, source: Source): Text | Promise<Text> {
  if (field.reads.typename) return quote(field.parent.name);
  const path: Path = { prev: source.path, key: field.key, typename: field.parent.name };
  try {
    const value = valueOf(execution, field, source, path);
    if (isThenable(value)) return later(execution, field, path, Promise.resolve(value).then((resolved) => complete(execution, field, resolved, path)));
    const done = complete(execution, field, value, path);
    return done instanceof Promise ? later(execution, field, path, done) : done;
  } catch (thrown) {
    return nullWithError(execution, thrown, { nodes: field.nodes, required: field.required, path });
  }
}

function complete(execution: Execution, field: ExecutableField, value: unknown, path: Path): Text | Promise<Text> {
  return (field.leaf && leafText(field.leaf, value)) ?? field.complete(execution, field, assertNoError(value), path);
}

const later = (execution: Execution, { nodes, required }: ExecutableField, path: Path, done: Promise<Text>) =>
  done.catch((thrown: unknown) => nullWithError(execution, thrown, { nodes, required, path }));

function valueOf(execution: Execution, field: ExecutableField, { value, object, tree }: Source, path: Path): unknown {
  const { reads } = field;
  if (object && !tree && reads.fromMember && typeof object[field.name] !== 'function') return object[field.name];
  if (object && tree && reads.fromTree && !isMarked(execution, object[field.key])) return object[field.key];
  const { run } = execution;
  if (run.context.cancelled) throw cancelled();
  return field.resolve(value, field.arguments(run.variables), run.context, resolveInfo(execution, field, path));
}

/** Nobody waits for the answer, so nobody is told of this. */
const cancelled = () => new AppError(503, 'CANCELLED', 'the operation was cancelled');

const isMarked = ({ run }: Execution, value: unknown) => typeof value === 'object' && value !== null && run.engine.reader.marker in value;
