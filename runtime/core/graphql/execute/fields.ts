import { isRawNumber } from '../../data/sql/exact-json.ts';
import type { FieldNode } from 'graphql';
import { AppError } from '../../errors.ts';
import { argumentValues } from '../argument-values.ts';
import { TYPE_KEY } from '../../data/sql/scope.ts';
import {
  type Answer,
  EmptyAnswer,
  Waiting,
  type Execution,
  nullWithError,
  type Path,
  WHOLE,
} from './execution.ts';
import {
  resolveInfo,
  type ExecutableField,
  type Fields,
  assertNoError,
  isThenable,
  leafValue,
} from './field.ts';

export type Members = Readonly<Record<string, unknown>>;

/** Whether a plan read the object: its members have the keys of the answer; none is a function. */
const isTree = (object: object): boolean => (object as Members)[TYPE_KEY] !== undefined;

/** Executes the fields of one object. Returns it, or a promise of it. `path` is its own path. */
export function executeFields(
  execution: Execution,
  fields: Fields,
  value: unknown,
  path: Path,
): Answer | Promise<Answer> {
  const answer = new EmptyAnswer();
  let waiting: Waiting | undefined;
  try {
    for (const field of fields) {
      const done = executeField(execution, field, value, path);
      const isLate = done instanceof Promise;
      answer[field.key] = isLate ? null : done;
      if (isLate) waiting = (waiting ?? new Waiting()).add(field.key, done);
    }
  } catch (thrown) {
    waiting?.abandon();
    throw thrown;
  }
  return waiting ? waiting.finish(answer) : answer;
}

/**
 * Executes one field of `value`, as section 6.4 of the specification, "Executing Fields",
 * describes. Here and below, `above` is the path of the parent object.
 */
export function executeField(
  execution: Execution,
  field: ExecutableField,
  value: unknown,
  above: Path | undefined,
): unknown {
  const { reads } = field;
  if (reads.typename) return field.parent.name;
  if (typeof value !== 'object' || value === null) return callField(execution, field, value, above);
  const object = value as Members;
  if (isTree(object))
    return reads.fromTree
      ? completeTree(execution, field, object, object[field.key], above)
      : callField(execution, field, object, above);
  return reads.fromMember
    ? readMember(execution, field, object, above)
    : callField(execution, field, object, above);
}

function readMember(
  execution: Execution,
  field: ExecutableField,
  object: Members,
  above: Path | undefined,
): unknown {
  try {
    return completeMember(execution, field, object, object[field.name], above);
  } catch (thrown) {
    return failField(execution, field, thrown, above);
  }
}

/** Completes a field whose value is a member of an object in memory. A getter is called once. */
function completeMember(
  execution: Execution,
  field: ExecutableField,
  object: Members,
  member: unknown,
  above: Path | undefined,
): unknown {
  if (typeof member === 'function') return callField(execution, field, object, above);
  return (
    (field.leaf && leafValue(field.leaf, member)) ??
    completeField(execution, field, member, pathOf(field, above))
  );
}

/** Completes a field that a plan has read. For a marker as its value, the resolver throws. */
function completeTree(
  execution: Execution,
  field: ExecutableField,
  object: Members,
  member: unknown,
  above: Path | undefined,
): unknown {
  if (field.planned && typeof member !== 'object' && member !== undefined) return member;
  if (isRawNumber(member))
    return field.planned
      ? member
      : completeField(execution, field, member.rawJSON, pathOf(field, above));
  if (member === null && !field.required) return null;
  // A member that is missing in the tree was not planned: the user's resolver answers it.
  if (member === undefined || isMarked(execution, member))
    return callField(execution, field, object, above);
  return completeField(execution, field, member, pathOf(field, above));
}

const isMarked = ({ run }: Execution, value: unknown) =>
  typeof value === 'object' && value !== null && run.engine.reader.marker in value;

/** Completes a field by calling its resolver. */
function callField(
  execution: Execution,
  field: ExecutableField,
  value: unknown,
  above: Path | undefined,
): unknown {
  const { run } = execution;
  const path = pathOf(field, above);
  try {
    if (run.context.cancelled) throw cancelled();
    return settle(
      execution,
      field,
      field.resolve(
        value,
        argumentValues(field.definition, field.nodes[0] as FieldNode, run.variables),
        run.context,
        resolveInfo(execution, field, path),
      ),
      path,
    );
  } catch (thrown) {
    return nullWithError(execution, thrown, { nodes: field.nodes, required: field.required, path });
  }
}

/** The client has disconnected, so this error is neither sent nor logged. */
const cancelled = () => new AppError(503, 'CANCELLED', 'the operation was cancelled');

function completeField(
  execution: Execution,
  field: ExecutableField,
  value: unknown,
  path: Path,
): unknown {
  try {
    return settle(execution, field, value, path);
  } catch (thrown) {
    return nullWithError(execution, thrown, { nodes: field.nodes, required: field.required, path });
  }
}

function settle(execution: Execution, field: ExecutableField, value: unknown, path: Path): unknown {
  if (isThenable(value))
    return later(
      execution,
      field,
      path,
      Promise.resolve(value).then((resolved) => complete(execution, field, resolved, path)),
    );
  const done = complete(execution, field, value, path);
  return done instanceof Promise ? later(execution, field, path, done) : done;
}

function complete(
  execution: Execution,
  field: ExecutableField,
  value: unknown,
  path: Path,
): unknown {
  return (
    (field.leaf && leafValue(field.leaf, value)) ??
    field.complete(execution, field, assertNoError(value), path, WHOLE)
  );
}

const later = (
  execution: Execution,
  { nodes, required }: ExecutableField,
  path: Path,
  done: Promise<unknown>,
) => done.catch((thrown: unknown) => nullWithError(execution, thrown, { nodes, required, path }));

/** Returns null for a field that failed. @throws GraphQLError when the field may not be null */
function failField(
  execution: Execution,
  field: ExecutableField,
  thrown: unknown,
  above: Path | undefined,
): null {
  return nullWithError(execution, thrown, {
    nodes: field.nodes,
    required: field.required,
    path: pathOf(field, above),
  });
}

const pathOf = ({ key, parent }: ExecutableField, above: Path | undefined): Path => ({
  prev: above,
  key,
  typename: parent.name,
});
