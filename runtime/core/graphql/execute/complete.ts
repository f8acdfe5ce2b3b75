import {
  type GraphQLAbstractType,
  type GraphQLLeafType,
  type GraphQLObjectType,
  isObjectType,
} from 'graphql';
import { InternalError } from '../../errors.ts';
import { WrongResult } from '../errors.ts';
import { type Execution, nullWithError, type Path, placeAt, Waiting } from './execution.ts';
import {
  resolveInfo,
  type Completer,
  type ExecutableField,
  type Fields,
  assertJson,
  assertNoError,
  isThenable,
} from './field.ts';
import { executeFields } from './fields.ts';

/** Messages are worded as in graphql-js, because they are part of the answer. */
const place = ({ parent, definition }: ExecutableField) => `${parent.name}.${definition.name}`;

/** The caller gets a masked error, so this message is for the log. */
const wrongResult = (field: ExecutableField, what: string, cause?: unknown) =>
  new WrongResult(place(field), what, { cause });

const messageOf = (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown));

export function requiredCompleter(complete: Completer): Completer {
  const assert = (field: ExecutableField, value: unknown) => {
    if (value === null)
      throw new InternalError(`Cannot return null for non-nullable field ${place(field)}.`);
    return value;
  };
  return (execution, field, value, path, index) => {
    const done = complete(execution, field, value, path, index);
    return done instanceof Promise ? done.then((kept) => assert(field, kept)) : assert(field, done);
  };
}

export function leafCompleter(type: GraphQLLeafType): Completer {
  return (_execution, field, value) => {
    if (value === null || value === undefined) return null;
    try {
      const coerced = type.coerceOutputValue(value);
      if (coerced === null || coerced === undefined)
        throw new InternalError(`${type.name} made nothing of a value`);
      return assertJson(coerced);
    } catch (thrown) {
      throw wrongResult(field, messageOf(thrown), thrown);
    }
  };
}

export function listCompleter(complete: Completer, required: boolean): Completer {
  const completeItem = itemCompleter(complete, required);
  const items = (
    execution: Execution,
    field: ExecutableField,
    values: Iterable<unknown>,
    path: Path,
  ) => {
    // A copy has exactly the needed size; pushing three items would reserve room for seventeen.
    const list: unknown[] = Array.isArray(values) ? [...values] : [];
    let waiting: Waiting | undefined;
    let index = 0;
    try {
      for (const value of list.length > 0 ? list : values) {
        const done = completeItem(execution, field, value, path, index);
        const isLate = done instanceof Promise;
        if (isLate) waiting = (waiting ?? new Waiting()).add(index, done);
        list[index] = isLate ? null : done;
        index += 1;
      }
    } catch (thrown) {
      waiting?.abandon();
      throw thrown;
    }
    return waiting ? waiting.finish(list) : list;
  };
  return (execution, field, value, above, index) => {
    if (value === null || value === undefined) return null;
    const path = placeAt(above, index);
    if (Array.isArray(value)) return items(execution, field, value, path);
    if (typeof value === 'object' && Symbol.asyncIterator in value)
      return Array.fromAsync(value as AsyncIterable<unknown>).then((list) =>
        items(execution, field, list, path),
      );
    if (typeof value === 'object' && Symbol.iterator in value)
      return items(execution, field, value as Iterable<unknown>, path);
    throw wrongResult(field, 'a list was expected');
  };
}

/**
 * Completes the items of a list. An item that fails becomes null; if items may not be null, the
 * whole list fails.
 */
function itemCompleter(complete: Completer, required: boolean): Completer {
  const fail = (execution: Execution, field: ExecutableField, thrown: unknown, path: Path) =>
    nullWithError(execution, thrown, { nodes: field.nodes, required, path });
  return (execution, field, value, path, index) => {
    try {
      const done = isThenable(value)
        ? Promise.resolve(value).then((resolved) =>
            complete(execution, field, assertNoError(resolved), path, index),
          )
        : complete(execution, field, assertNoError(value), path, index);
      return done instanceof Promise
        ? done.catch((thrown: unknown) => fail(execution, field, thrown, placeAt(path, index)))
        : done;
    } catch (thrown) {
      return fail(execution, field, thrown, placeAt(path, index));
    }
  };
}

export function objectCompleter(type: GraphQLObjectType, fieldsOf: () => Fields): Completer {
  const complete: Completer = (execution, _field, value, path, index) =>
    value === null || value === undefined
      ? null
      : executeFields(execution, fieldsOf(), value, placeAt(path, index));
  return type.isTypeOf ? askingCompleter(type, complete) : complete;
}

/**
 * Calls the project's `__isTypeOf` even where the schema determines the type, as graphql-js does.
 */
function askingCompleter(type: GraphQLObjectType, complete: Completer): Completer {
  return (execution, field, value, path, index) => {
    if (value === null || value === undefined) return null;
    const finish = (isOne: unknown) => {
      if (!isOne) throw wrongResult(field, `__isTypeOf of ${type.name} says that it is none`);
      return complete(execution, field, value, path, index);
    };
    const info = resolveInfo(execution, field, placeAt(path, index));
    const isOne = type.isTypeOf?.(value, execution.run.context, info);
    return isThenable(isOne) ? Promise.resolve(isOne).then(finish) : finish(isOne);
  };
}

export function abstractCompleter(
  type: GraphQLAbstractType,
  fieldsOf: (type: GraphQLObjectType) => () => Fields,
): Completer {
  return (execution, field, value, path, index) => {
    if (value === null || value === undefined) return null;
    const complete = (name: unknown) =>
      executeFields(
        execution,
        fieldsOf(concreteType(execution, field, type, name))(),
        value,
        placeAt(path, index),
      );
    const name = type.resolveType?.(
      value,
      execution.run.context,
      resolveInfo(execution, field, placeAt(path, index)),
      type,
    );
    return isThenable(name) ? Promise.resolve(name).then(complete) : complete(name);
  };
}

function concreteType(
  { run }: Execution,
  field: ExecutableField,
  abstract: GraphQLAbstractType,
  name: unknown,
): GraphQLObjectType {
  const { schema } = run.engine;
  if (name === null || name === undefined)
    throw wrongResult(
      field,
      `which member of ${abstract.name} it is cannot be seen: give it __typename, or write __resolveType of ${abstract.name} or __isTypeOf of its members`,
    );
  const type = typeof name === 'string' ? schema.getType(name) : undefined;
  if (!isObjectType(type) || !schema.isSubType(abstract, type))
    throw wrongResult(field, `${String(name)} is no member of ${abstract.name}`);
  return type;
}
