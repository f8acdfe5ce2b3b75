import { AppError } from '../../errors.ts';
import { TYPE_KEY } from '../../data/scope.ts';
import { type Answer, EmptyAnswer, Waiting } from './answer.ts';
import { type Execution, nullWithError, type Path, resolveInfo } from './execution.ts';
import type { ExecutableField, Fields } from './field.ts';
import { assertNoError, isThenable, leafValue } from './value.ts';

type Members = Readonly<Record<string, unknown>>;

/** One object of the answer, or a promise of it. */
export function executeFields(execution: Execution, fields: Fields, value: unknown, path: Path | undefined): Answer | Promise<Answer> {
  const object = typeof value === 'object' && value !== null ? (value as Members) : undefined;
  const source: Source = { value, object, tree: object !== undefined && object[TYPE_KEY] !== undefined, path };
  const answer = new EmptyAnswer();
  let waiting: Waiting | undefined;
  try {
    for (const field of fields) {
      const done = (object && atHand(field, object, source.tree)) ?? executeField(execution, field, source);
      if (done instanceof Promise) waiting = (waiting ?? new Waiting()).add(answer, field.key, done);
      else answer[field.key] = done;
    }
  } catch (thrown) {
    waiting?.abandon();
    throw thrown;
  }
  return waiting ? waiting.finish(answer) : answer;
}

/** Most members of what a plan read, and of objects out of memory, are the answer's own already. */
function atHand({ member, planned, key, name }: ExecutableField, object: Members, tree: boolean): unknown {
  if (!tree) return member && leafValue(member, object[name]);
  if (!planned) return undefined;
  const value = object[key];
  return typeof value === 'object' ? undefined : value;
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
export function executeField(execution: Execution, field: ExecutableField, source: Source): unknown {
  if (field.reads.typename) return field.parent.name;
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

function complete(execution: Execution, field: ExecutableField, value: unknown, path: Path): unknown {
  return (field.leaf && leafValue(field.leaf, value)) ?? field.complete(execution, field, assertNoError(value), path);
}

const later = (execution: Execution, { nodes, required }: ExecutableField, path: Path, done: Promise<unknown>) =>
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
