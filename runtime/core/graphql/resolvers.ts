import type { Field, Operation } from '@twofold/schema';
import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isAbstractType,
  isObjectType,
} from 'graphql';
import { refusal, rootAccess, type Access } from '../data/access/access.ts';
import { rowMeets, type JudgedRow } from '../data/write/row-judgement.ts';
import { assertValid } from '../data/write/constraint.ts';
import { propertyOf, ROOT_NAMES, type EntityModel } from '../data/model.ts';
import { ROW_KEY, TYPE_KEY } from '../data/sql/scope.ts';
import { ownOptions } from '../own-context/base-context.ts';
import type { Resolver } from '../plugin.ts';
import { logTimeout, ownTransaction } from '../store/own-transaction.ts';
import { DatabaseLost } from '../store/unreachable.ts';
import { createPace } from '../store/transactions/pace.ts';
import type { RequestContext } from '../context/request-context.ts';
import { errorsOfArguments } from './argument-errors.ts';
import { isOwn, ownResolver, ownSubscribeResolver, transactionOf, type Engine } from './engine.ts';
import { type ErrorCases, errorCases, memberFor } from './error-members.ts';
import { notImplemented } from './errors.ts';
import { ownParent } from './own-parent.ts';
import { fromParent, fromTree, type Parent, readRow } from './parent-fields.ts';
import { entityOfEvents } from './plan/operation.ts';
import { leadsToRoot, rootAgain } from './root-again.ts';
import { resolveRoot } from './run.ts';
import { judgeOf, type Run } from './operation-run.ts';
import { attachIsTypeOf, attachResolveType } from './type-of.ts';

type Resolve = GraphQLFieldResolver<any, RequestContext>;

/**
 * Attaches a resolver to every field: user code, the result of a plan, or a member of an object
 * that user code returned.
 */
export function attachResolvers(engine: Engine): void {
  for (const type of Object.values(engine.schema.getTypeMap())) {
    if (isAbstractType(type)) attachResolveType(engine, type);
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    attachIsTypeOf(engine, type);
    for (const field of Object.values(type.getFields())) attachResolver(engine, type, field);
  }
}

/** Attaches the resolver of one field of `type`. */
export function attachResolver(
  engine: Engine,
  type: GraphQLObjectType,
  field: GraphQLField<any, RequestContext>,
): void {
  const { schema, model } = engine;
  const { name } = field;
  const entity = model.entities.get(type.name);
  const root = (['query', 'mutation', 'subscription'] as const).find(
    (kind) => schema.getRootType(kind as never) === type,
  );
  const operation = root && model.operations.get(`${ROOT_NAMES[root]}.${name}`);
  const subscribe = root === 'subscription' && ownSubscribeResolver(engine, name);
  if (subscribe)
    field.subscribe = (_run: Run, args, context, info) => subscribe({}, args, context, info);
  if (leadsToRoot(schema, field.type) && !ownResolver(engine, type.name, name))
    field.resolve = rootAgainField(operation, entity, name);
  else if (root) field.resolve = rootField(engine, type.name, name, operation);
  else if (entity) field.resolve = entityField(engine, entity, name);
  else field.resolve = objectField(engine, type.name, name);
}

/**
 * `viewer: Query`: every caller may select the root again; the fields below have rules of their
 * own.
 */
function rootAgainField(
  operation: Operation | undefined,
  entity: EntityModel | undefined,
  name: string,
): Resolve {
  const field = entity?.fields.get(name);
  return (parent, _args, _context, info) => {
    const run = info.rootValue as Run;
    const access = operation && accessTo(run, operation);
    if (access?.kind === 'none' && operation?.rules.length) throw refusal(access.code);
    const again = () => rootAgain(run, info);
    return entity && field ? allowed(info, entity, field, parent, again) : again();
  };
}

function rootField(
  engine: Engine,
  type: string,
  name: string,
  operation: Operation | undefined,
): Resolve {
  const given = ownResolver(engine, type, name);
  const isMutation = operation?.root === 'mutation';
  const own = given && isMutation ? inTransaction(engine, type, name, given) : given;
  const { cases } = operation ? errorCases(engine, operation) : {};
  if (operation && isPlanned(engine, type, operation))
    return (run: Run, _args, _context, info) => resolveRoot(run, info);
  const answer: Resolve = (run: Run, args, context, info) => {
    if (operation) assertCallable(run, operation, args);
    if (!own && run.event !== undefined)
      return defaultFieldResolver(run.event, args, context, info);
    if (!own) throw notImplemented(`${type}.${name}`);
    return own(run.event ?? {}, args, context, info);
  };
  return cases ? withMembers(cases, answer) : answer;
}

/** A member of the result takes an error of the project's function, which is undone by then. */
function withMembers(cases: ErrorCases, answer: Resolve): Resolve {
  return async (run, args, context, info) => {
    try {
      return await answer(run, args, context, info);
    } catch (error) {
      return memberFor(cases, error, context);
    }
  };
}

/** Whether the server itself answers the field: by its action, or by the row of an event. */
function isPlanned(engine: Engine, type: string, operation: Operation): boolean {
  if (isOwn(engine, type, operation.name)) return false;
  return (
    operation.action.kind !== 'custom' || entityOfEvents(engine.model, operation) !== undefined
  );
}

/**
 * A function of `Mutation` is one transaction, which begins with its first statement. Rows below it
 * are read after the commit.
 */
function inTransaction(engine: Engine, type: string, name: string, own: Resolver): Resolver {
  const options = transactionOf(engine, type, name);
  if (options === false) return inParts(own);
  const { store } = engine;
  const opening = {
    ...ownOptions(options),
    once: 0,
    opened: `${type}.${name}`,
    pace: createPace(),
  };
  const run = async (...args: Parameters<Resolver>) => own(...args);
  return (parent, args, context: RequestContext, info) =>
    store
      .transactionLater(
        () => run(parent, args, context, info),
        ownTransaction(store, { ...opening, context }),
      )
      .catch((error: unknown) => logTimeout(error, context.log));
}

/** What a function without a transaction has written before the database was lost is written. */
const inParts =
  (own: Resolver): Resolver =>
  async (...args) => {
    try {
      return await own(...args);
    } catch (error) {
      throw error instanceof DatabaseLost ? error.said('unknown') : error;
    }
  };

function assertCallable(
  run: Run,
  operation: Operation,
  args: Readonly<Record<string, unknown>>,
): void {
  const access = accessTo(run, operation);
  if (access.kind === 'none') throw refusal(access.code);
  assertValid(errorsOfArguments(run.engine, operation, args));
}

const VERBS = {
  get: 'READ',
  list: 'READ',
  aggregated: 'READ',
  create: 'CREATE',
  update: 'UPDATE',
  remove: 'DELETE',
  upsert: 'UPDATE',
  createMany: 'CREATE',
  updateMany: 'UPDATE',
  removeMany: 'DELETE',
} as const;

/** A resolver that replaces an action has the access rules of that action. */
function accessTo({ engine, rules }: Run, operation: Operation): Access {
  const { action, root } = operation;
  if (action.kind in VERBS && 'entity' in action) {
    const verb = VERBS[action.kind as keyof typeof VERBS];
    return rootAccess(engine.model, rules, rules.operation(operation, verb), action.entity, verb);
  }
  const own = rules.operation(operation, root === 'mutation' ? 'UPDATE' : 'READ');
  // For rows of several types, the callers get the rows that they may read.
  return !own.explicit && ['node', 'nodes', 'listAbstract'].includes(action.kind)
    ? { kind: 'all' }
    : own;
}

/** A member of an object that is not an entity: a payload, a connection, a JSON value. */
function objectField(engine: Engine, type: string, name: string): Resolve {
  const own = ownResolver(engine, type, name);
  if (own)
    return (parent, args, context, info) =>
      own(ownParent(engine, parent, info), args, context, info);
  return (parent, args, context, info) => {
    if (!isTree(parent)) return defaultFieldResolver(parent, args, context, info);
    // A planned field is in the tree, even when it is null. Any other field needs a resolver.
    if (!(info.path.key in parent)) throw notImplemented(`${type}.${name}`);
    return fromTree(engine, parent[info.path.key]);
  };
}

function entityField(engine: Engine, entity: EntityModel, name: string): Resolve {
  const field = entity.fields.get(name);
  const own = ownResolver(engine, entity.entity.name, name);
  if (own || !field || field.source.kind === 'custom') {
    return (parent, args, context, info) => {
      const row =
        isTree(parent) && parent[ROW_KEY] ? readRow(entity, parent[ROW_KEY], info) : parent;
      const done = () =>
        own
          ? own(row, args, context, info)
          : memberOfParent(row, name, args, context, info, entity);
      return field ? allowed(info, entity, field, row, done) : done();
    };
  }
  const { source } = field;
  const bytes =
    source.kind === 'column' && entity.bytes.some((column) => column.name === source.column);
  const decode = (value: unknown) =>
    bytes && typeof value === 'string' ? Buffer.from(value, 'hex') : value;
  return (parent, args, context, info) => {
    if (isTree(parent)) return decode(fromTree(engine, parent[info.path.key]));
    return allowed(info, entity, field, parent, () =>
      fromParent(engine, entity, field, parent, args, context, info),
    );
  };
}

/** A field without a resolver may be a member of the object that user code returned. */
function memberOfParent(
  row: Parent,
  name: string,
  args: any,
  context: RequestContext,
  info: GraphQLResolveInfo,
  { entity }: EntityModel,
): unknown {
  if (row[name] === undefined) throw notImplemented(`${entity.name}.${name}`);
  return defaultFieldResolver(row, args, context, info);
}

const isTree = (parent: unknown): parent is Parent =>
  typeof parent === 'object' && parent !== null && TYPE_KEY in parent;

/** The access to a field of an object that user code returned or got as its parent. */
function allowed(
  info: GraphQLResolveInfo,
  entity: EntityModel,
  field: Field,
  row: Parent,
  resolve: () => unknown,
): unknown {
  if (field.rules.length === 0) return resolve();
  const run = info.rootValue as Run;
  const access = run.rules.field(entity.entity, field, 'READ');
  if (access.kind === 'none') throw refusal(access.code);
  if (access.kind === 'all') return resolve();
  const met = rowMeets(judgeOf(run), judged(entity, row), access.conditions);
  const unless = (isMet: boolean) => {
    if (!isMet) throw refusal('FORBIDDEN');
    return resolve();
  };
  return met instanceof Promise ? met.then(unless) : unless(met);
}

const judged = (entity: EntityModel, row: Parent): JudgedRow => ({
  entity,
  partial: true,
  value: (name) => {
    const column = entity.columns.get(name);
    if (column === undefined) return row[name];
    return row[propertyOf(entity, column)] ?? row[name] ?? (column.field && row[column.field]);
  },
});
