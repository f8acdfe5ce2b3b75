import { type GraphQLAbstractType, GraphQLError, type GraphQLLeafType, type GraphQLObjectType, isObjectType } from 'graphql';
import { InternalError } from '../../errors.ts';
import { type Execution, nullWithError, type Path, resolveInfo } from './execution.ts';
import { type Answer, Waiting } from './answer.ts';
import type { Completer, ExecutableField, Fields } from './field.ts';
import { executeFields } from './fields.ts';
import { assertJson, assertNoError, isThenable } from './value.ts';

/** The sentences are those of graphql-js: they are part of the answer. */
const place = ({ parent, definition }: ExecutableField) => `${parent.name}.${definition.name}`;

export function requiredCompleter(complete: Completer): Completer {
  const assert = (field: ExecutableField, value: unknown) => {
    if (value === null) throw new InternalError(`Cannot return null for non-nullable field ${place(field)}.`);
    return value;
  };
  return (execution, field, value, path) => {
    const done = complete(execution, field, value, path);
    return done instanceof Promise ? done.then((kept) => assert(field, kept)) : assert(field, done);
  };
}

export function leafCompleter(type: GraphQLLeafType): Completer {
  return (_execution, _field, value) => {
    if (value === null || value === undefined) return null;
    const coerced = type.coerceOutputValue(value);
    if (coerced === null || coerced === undefined) throw new InternalError(`${type.name} made nothing of a value`);
    return assertJson(coerced);
  };
}

export function listCompleter(complete: Completer, required: boolean): Completer {
  const completeItem = itemCompleter(complete, required);
  const items = (execution: Execution, field: ExecutableField, values: Iterable<unknown>, path: Path) => {
    const list: unknown[] = [];
    let waiting: Waiting | undefined;
    try {
      for (const value of values) {
        const done = completeItem(execution, field, value, { prev: path, key: list.length, typename: undefined });
        if (done instanceof Promise) waiting = (waiting ?? new Waiting()).add(list as unknown as Answer, list.length, done);
        else list.push(done);
      }
    } catch (thrown) {
      waiting?.abandon();
      throw thrown;
    }
    return waiting ? waiting.finish(list) : list;
  };
  return (execution, field, value, path) => {
    if (value === null || value === undefined) return null;
    if (Array.isArray(value)) return items(execution, field, value, path);
    if (typeof value === 'object' && Symbol.asyncIterator in value) return Array.fromAsync(value as AsyncIterable<unknown>).then((list) => items(execution, field, list, path));
    if (typeof value === 'object' && Symbol.iterator in value) return items(execution, field, value as Iterable<unknown>, path);
    throw new GraphQLError(`Expected Iterable, but did not find one for field "${place(field)}".`);
  };
}

/** An item that fails is null, or takes the list with it. */
function itemCompleter(complete: Completer, required: boolean): Completer {
  return (execution, field, value, path) => {
    try {
      const done = isThenable(value) ? Promise.resolve(value).then((resolved) => complete(execution, field, assertNoError(resolved), path)) : complete(execution, field, assertNoError(value), path);
      return done instanceof Promise ? done.catch((thrown: unknown) => nullWithError(execution, thrown, { nodes: field.nodes, required, path })) : done;
    } catch (thrown) {
      return nullWithError(execution, thrown, { nodes: field.nodes, required, path });
    }
  };
}

export function objectCompleter(fieldsOf: () => Fields, type: GraphQLObjectType): Completer {
  const shaped = { fieldsOf, type };
  return (execution, field, value, path) => (value === null || value === undefined ? null : completeObject(execution, field, value, path, shaped));
}

interface Shaped {
  readonly type: GraphQLObjectType;
  fieldsOf(): Fields;
}

function completeObject(execution: Execution, field: ExecutableField, value: unknown, path: Path, { fieldsOf, type }: Shaped): Answer | Promise<Answer> {
  if (!type.isTypeOf) return executeFields(execution, fieldsOf(), value, path);
  const is = type.isTypeOf(value, execution.run.context, resolveInfo(execution, field, path));
  const proceed = (true_: boolean) => {
    if (!true_) throw new GraphQLError(`Expected value of type "${type.name}" but got another.`, { nodes: field.nodes });
    return executeFields(execution, fieldsOf(), value, path);
  };
  return isThenable(is) ? Promise.resolve(is).then(proceed) : proceed(is as boolean);
}

export function abstractCompleter(type: GraphQLAbstractType, fieldsOf: (type: GraphQLObjectType) => () => Fields): Completer {
  const complete = (execution: Execution, field: ExecutableField, value: unknown, path: Path, name: unknown) => {
    const object = concreteType(execution, field, type, name);
    return completeObject(execution, field, value, path, { type: object, fieldsOf: fieldsOf(object) });
  };
  return (execution, field, value, path) => {
    if (value === null || value === undefined) return null;
    const name = type.resolveType?.(value, execution.run.context, resolveInfo(execution, field, path), type);
    return isThenable(name) ? Promise.resolve(name).then((resolved) => complete(execution, field, value, path, resolved)) : complete(execution, field, value, path, name);
  };
}

function concreteType({ run }: Execution, field: ExecutableField, abstract: GraphQLAbstractType, name: unknown): GraphQLObjectType {
  const { schema } = run.engine;
  const fail = (message: string) => new GraphQLError(message, { nodes: field.nodes });
  if (name === null || name === undefined) {
    throw fail(`Abstract type "${abstract.name}" must resolve to an Object type at runtime for field "${place(field)}". Either the "${abstract.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`);
  }
  const type = typeof name === 'string' ? schema.getType(name) : undefined;
  if (!type) throw fail(`Abstract type "${abstract.name}" was resolved to a type "${String(name)}" that does not exist inside the schema.`);
  if (!isObjectType(type)) throw fail(`Abstract type "${abstract.name}" was resolved to a non-object type "${type.name}".`);
  if (!schema.isSubType(abstract, type)) throw fail(`Runtime Object type "${type.name}" is not a possible type for "${abstract.name}".`);
  return type;
}
