import { didYouMean, type Operation } from '@twofold/schema';
import {
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLArgument,
  type GraphQLInputType,
} from 'graphql';
import { InternalError } from '../errors.ts';
import type { Change, Published } from '../data/changes/changes.ts';
import { propertyOf, type EntityModel } from '../data/model.ts';
import { ownSubscribeResolver, type Engine } from './engine.ts';
import { entityOfEvents } from './plan/operation.ts';

/** The most bytes of an event, because a notification of the database carries it to all servers. */
const MAX_BYTES = 64 * 1024;

type Values = Readonly<Record<string, unknown>>;

/** Whether the events of a field come from the server: from changes, or from `ctx.publish`. */
export const isFed = (engine: Engine, { root, name }: Operation): boolean =>
  root === 'subscription' && !isOwnSource(engine, name);

const isOwnSource = (engine: Engine, field: string) =>
  ownSubscribeResolver(engine, field) !== undefined;

/** `ctx.publish` */
export function createPublisher(engine: Engine) {
  return (field: string, payload: unknown, args: Values): void => {
    const published = publishedOf(engine, field, payload, args);
    engine.store.afterCommit(() => engine.changes.publish([published]));
  };
}

function publishedOf(engine: Engine, field: string, payload: unknown, args: Values): Published {
  const operation = fedOperation(engine, field);
  const entity = entityOfEvents(engine.model, operation);
  if (entity !== undefined && idOf(payload) === undefined)
    throw wrong(field, `takes a row of ${entity}, or an object with its id`);
  const text = textOf(field, payload);
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_BYTES)
    throw wrong(
      field,
      `takes at most ${MAX_BYTES} bytes of JSON, and the payload has ${bytes}: publish an id, and let subscribers select the rest`,
    );
  return { field, payload: JSON.parse(text), args: comparableArguments(engine, field, args) };
}

function fedOperation(engine: Engine, field: string): Operation {
  const operation = engine.model.operations.get(`Subscription.${field}`);
  if (!operation) {
    const names = [...engine.model.operations.values()]
      .filter(({ root }) => root === 'subscription')
      .map(({ name }) => name);
    const hint = didYouMean(field, names) ?? 'Add it to schema.graphql and generate again';
    throw wrong(field, `is no field of Subscription. ${hint}`);
  }
  if (isOwnSource(engine, field))
    throw wrong(
      field,
      'is fed by your own function in src/resolvers/Subscription.ts: remove that function, or send the event there',
    );
  return operation;
}

function textOf(field: string, payload: unknown): string {
  try {
    const text = JSON.stringify(payload) as string | undefined;
    if (text !== undefined) return text;
  } catch (error) {
    throw wrong(field, `takes a JSON value: ${(error as Error).message}`);
  }
  throw wrong(field, 'takes a JSON value, and the payload is undefined or a function');
}

const wrong = (field: string, why: string) => new InternalError(`ctx.publish: ${field} ${why}`);

function idOf(payload: unknown): string | undefined {
  const id = typeof payload === 'object' && payload !== null && 'id' in payload ? payload.id : null;
  return typeof id === 'string' || typeof id === 'number' || typeof id === 'bigint'
    ? String(id)
    : undefined;
}

const argumentsOf = ({ schema }: Engine, field: string): readonly GraphQLArgument[] =>
  schema.getSubscriptionType()?.getFields()[field]?.args ?? [];

/**
 * Arguments in the form in which they are compared. Those that are null or left out match all.
 *
 * @throws InternalError for an argument that the field does not have.
 */
function comparableArguments(engine: Engine, field: string, args: Values): Values {
  const known = new Map(argumentsOf(engine, field).map((each) => [each.name, each.type]));
  return Object.fromEntries(
    Object.entries(args).flatMap(([name, value]) => {
      const type = known.get(name);
      if (!type) throw wrong(field, `has no argument ${name}`);
      return value === undefined || value === null ? [] : [[name, comparable(type, value)]];
    }),
  );
}

/** An id may be a number in a row, and is a text in an argument. */
function comparable(type: GraphQLInputType, value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (isNonNullType(type)) return comparable(type.ofType, value);
  if (isListType(type))
    return (Array.isArray(value) ? value : [value]).map((each) => comparable(type.ofType, each));
  if (isInputObjectType(type))
    return Object.values(type.getFields()).map((field) =>
      comparable(field.type, (value as Values)[field.name]),
    );
  return type.name === 'ID' ? String(value) : JSON.parse(JSON.stringify(value));
}

/** Whether subscribers with these arguments get what was published. */
export function matcherOf(
  engine: Engine,
  field: string,
  args: Values,
): (published: Published) => boolean {
  const asked = new Map(
    Object.entries(comparableArguments(engine, field, args)).map(([name, value]) => [
      name,
      JSON.stringify(value),
    ]),
  );
  return (published) =>
    published.field === field &&
    [...asked].every(
      ([name, text]) =>
        published.args?.[name] === undefined || JSON.stringify(published.args[name]) === text,
    );
}

/**
 * The change of a row that was published for an entity's field. A row that is gone is judged by the
 * published one, which must then be whole.
 */
export function changeOf(
  engine: Engine,
  operation: Operation,
  { payload }: Published,
): Change | undefined {
  const id = idOf(payload);
  const name = entityOfEvents(engine.model, operation);
  if (id === undefined || name === undefined) return undefined;
  const { action } = operation;
  const isRemoval = action.kind === 'subscribe' && action.on.every((kind) => kind === 'deleted');
  if (!isRemoval) return { entity: name, kind: 'updated', id };
  const row = payload as Values;
  const isWhole = propertiesOf(engine.model.entity(name)).every((property) => property in row);
  return { entity: name, kind: 'deleted', id, ...(isWhole && { row }) };
}

const propertiesOf = (entity: EntityModel) =>
  entity.entity.columns.map((column) => propertyOf(entity, column));
