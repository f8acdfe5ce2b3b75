import { getArgumentValues } from 'graphql';
import { TYPE_KEY } from '../../data/scope.ts';
import { type Execution, nullWithError, type Path, resolveInfo } from './execution.ts';
import type { ExecutableField, Fields } from './field.ts';
import { assertNoError, isThenable } from './value.ts';

type Answer = Record<string, unknown>;

/** The members of one object of the answer, or a promise of them. */
export function executeFields(execution: Execution, fields: Fields, source: unknown, path: Path | undefined): Answer | Promise<Answer> {
  const answer: Answer = fields.some(isPrototype) ? Object.create(null) : {};
  const waiting: Promise<void>[] = [];
  const object = typeof source === 'object' && source !== null ? (source as Answer) : undefined;
  const tree = object !== undefined && TYPE_KEY in object;
  try {
    for (const field of fields) {
      const value = object && isAtHand(field, object, tree) ? object[tree ? field.key : field.name] : executeField(execution, field, source, { path, object, tree });
      answer[field.key] = value;
      if (value instanceof Promise) waiting.push(value.then((resolved) => void (answer[field.key] = resolved)));
    }
  } catch (thrown) {
    // What still runs has nobody left to tell.
    for (const promise of waiting) promise.catch(() => {});
    throw thrown;
  }
  return waiting.length === 0 ? answer : Promise.all(waiting).then(() => answer);
}

/** A client may name a member as it likes; on an ordinary object this name would be no member. */
const isPrototype = ({ key }: ExecutableField) => key === '__proto__';

/** Most members of what a plan read are the answer's own already. */
function isAtHand({ plain, reads, key }: ExecutableField, object: Answer, tree: boolean): boolean {
  return tree && plain && reads.fromTree && typeof object[key] !== 'object' && object[key] !== undefined;
}

interface Held {
  readonly path: Path | undefined;
  readonly object: Answer | undefined;
  readonly tree: boolean;
}

/** One field, run as the specification has it in section 6.4, "Executing Fields". */
export function executeField(execution: Execution, field: ExecutableField, source: unknown, held: Held): unknown {
  if (field.reads.typename) return field.parent.name;
  const path: Path = { prev: held.path, key: field.key, typename: field.parent.name };
  try {
    const value = valueOf(execution, field, source, path, held);
    if (isThenable(value)) return later(execution, field, path, Promise.resolve(value).then((resolved) => field.complete(execution, field, assertNoError(resolved), path)));
    const done = field.complete(execution, field, assertNoError(value), path);
    return done instanceof Promise ? later(execution, field, path, done) : done;
  } catch (thrown) {
    return nullWithError(execution, thrown, { nodes: field.nodes, required: field.required, path });
  }
}

const later = (execution: Execution, { nodes, required }: ExecutableField, path: Path, done: Promise<unknown>) =>
  done.catch((thrown: unknown) => nullWithError(execution, thrown, { nodes, required, path }));

function valueOf(execution: Execution, field: ExecutableField, source: unknown, path: Path, { object, tree }: Held): unknown {
  const { reads, definition, nodes } = field;
  if (object && !tree && reads.fromMember && typeof object[field.name] !== 'function') return object[field.name];
  if (object && tree && reads.fromTree && !isMarked(execution, object[field.key])) return object[field.key];
  const args = definition.args.length === 0 ? {} : getArgumentValues(definition, nodes[0] as (typeof nodes)[number], execution.run.variables, undefined, true);
  return field.resolve(source, args, execution.run.context, resolveInfo(execution, field, path));
}

const isMarked = ({ run }: Execution, value: unknown) => typeof value === 'object' && value !== null && run.engine.reader.marker in value;
