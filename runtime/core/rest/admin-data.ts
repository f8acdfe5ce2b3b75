import {
  ADMIN_DATA,
  adminDataRoutes,
  keptBySignIn,
  type Entity,
  type RestModule,
  type RouteSpec,
} from '@twofold/schema';
import type { Context, Middleware } from 'koa';
import type { RequestContext } from '../context/request-context.ts';
import { failure } from '../errors.ts';
import { type Guard, type Handler, reply } from '../http/route.ts';
import type { Engine } from '../graphql/engine.ts';
import type { Kernel } from '../module.ts';
import { adminGuardOf } from './admin-writes.ts';
import { createEndpoint } from './endpoint.ts';
import { type FieldSelection, readFieldSelection } from './field-selection.ts';
import { totalOf } from './reads.ts';
import {
  createService,
  type RestService,
  type ServedModule,
  type WrittenRow,
  callerKey,
} from './service.ts';
import { createBoundedCache } from '../store/bounded-cache.ts';

export interface AdminDataOptions {
  readonly kernel: Kernel;
  /** The engine with the added fields of the modules. */
  readonly engine: Engine;
  readonly modules: readonly RestModule[];
  /** Guards by the name of the permission. */
  readonly guards: Readonly<Record<string, Guard>>;
}

/** `/api/data`: a path for each entity, and the list of all of them. */
export interface AdminData {
  readonly endpoint: Middleware;
  readonly types: Handler;
}

/**
 * `/api/data`: the modules of REST over every entity, for operators. No rule of the schema holds
 * there, because the caller of each request is one without rules; checks, hooks, constraints and
 * events do. This is the only API whose callers are so.
 *
 * @example createAdminData({ kernel, engine, modules, guards }).endpoint // GET /api/data/posts …
 */
export function createAdminData({ kernel, engine, modules, guards }: AdminDataOptions): AdminData {
  const audit = createAdminAudit(kernel);
  const writing = adminGuardOf(kernel.store);
  const service = createService({
    engine,
    modules,
    prefix: `${ADMIN_DATA}/`,
    callerOf: withoutRules(),
    ...(writing && { writing }),
    written: audit.written,
  });
  const serve = createEndpoint(service);
  return {
    types: async ({ context }) => reply(200, { types: await typesOf(service, context) }),
    endpoint: async function adminData(ctx, next) {
      const served = service.modules.get(ctx.path.slice(service.prefix.length).split('/')[0] ?? '');
      if (!served) return next();
      await assertAllowed(guards, ctx);
      assertMade(kernel, served, ctx.method);
      await audit.read(ctx.state['context'], typesRead(service, served, ctx));
      return serve(ctx, next);
    },
  };
}

/**
 * Gives each request one context without rules, because what it reserves is freed by its object.
 */
function withoutRules(): RestService['callerOf'] {
  const known = new WeakMap<RequestContext, RequestContext>();
  return (context) => {
    const free = known.get(context) ?? context.sudo();
    known.set(context, free);
    return free;
  };
}

const isRead = ({ method }: Context) => method === 'GET' || method === 'HEAD';

async function assertAllowed(guards: AdminDataOptions['guards'], ctx: Context): Promise<void> {
  const access = isRead(ctx) || ctx.method === 'OPTIONS' ? 'data:read' : 'data:write';
  const guard = guards[access];
  if (!guard) throw failure.unauthenticated();
  const route: RouteSpec = { ...adminDataRoutes[0], method: ctx.method as 'GET', access };
  await guard(ctx.state['context'], route, ctx);
}

/**
 * The types whose rows a request shows. A write is logged as a write, but may show rows of other
 * types.
 */
function typesRead(service: RestService, { module }: ServedModule, ctx: Context): Entity[] {
  const { entity } = module;
  const embedded = embeddedTypes(service, entity.name, readFieldSelection(ctx.query));
  return isRead(ctx) ? [...new Set([entity, ...embedded])] : [...embedded];
}

/**
 * The types whose rows an answer embeds in those of `entity`, each once.
 *
 * @example embeddedTypes(service, 'Post', readFieldSelection({ include: 'author' })) // [Author]
 */
function embeddedTypes(
  service: RestService,
  entity: string,
  selection: FieldSelection,
): readonly Entity[] {
  const found = new Set(namesIn(service, entity, selection));
  return service.engine.model.project.entities.filter(({ name }) => found.has(name));
}

function* namesIn(
  service: RestService,
  entity: string,
  { fields, include }: FieldSelection,
): Generator<string> {
  const members = service.members(entity);
  for (const name of new Set([...include.keys(), ...(fields ?? [])])) {
    const member = members.get(name);
    if (member?.kind !== 'relation') continue;
    for (const type of oneOrMembers(service, member.field.type.name)) {
      yield type;
      const inner = include.get(name);
      if (inner) yield* namesIn(service, type, inner);
    }
  }
}

/** The type, or the members of an interface or a union. */
const oneOrMembers = ({ engine }: RestService, name: string): readonly string[] =>
  engine.model.project.abstracts.find((each) => each.name === name)?.members ?? [name];

/**
 * Refuses to create users, because only registration sets a password: without one, a user could not
 * sign in.
 */
function assertMade({ project }: Kernel, { module }: ServedModule, method: string): void {
  if (method === 'POST' && !module.create && isOfUsers(project, module.entity))
    throw failure.badRequest(
      `${module.entity.name} is made by signing up: POST /api/auth/register, or an invitation`,
    );
}

const isOfUsers = (project: Kernel['project'], entity: Entity): boolean =>
  keptBySignIn(project, entity).size > 0;

async function typesOf(service: RestService, context: RequestContext) {
  const types = [];
  for (const { module } of service.modules.values())
    types.push({
      name: module.entity.name,
      path: module.path,
      total: await totalOf(service, module, context),
    });
  return types;
}

const MINUTE = 60_000;

/** What was written and read without access rules, for the audit log. */
interface AdminAudit {
  /** Records a write with the names of its fields, in its transaction. */
  readonly written: NonNullable<RestService['written']>;
  /** Records reads: once a minute for each caller and type. */
  read(context: RequestContext, types: readonly ReadType[]): Promise<void>;
}

/** A type whose rows a request shows. */
type ReadType = Pick<Entity, 'name' | 'plural'>;

const VERBS = { create: 'create', update: 'update', remove: 'delete' } as const;

function createAdminAudit({ audit, now }: Kernel): AdminAudit {
  const reads = createBoundedCache<number>({ entries: 10_000, bytes: 10_000 });
  return {
    written: async ({ context, operation, entity: { name, plural }, id, args }) => {
      const verb = VERBS[operation.action.kind as keyof typeof VERBS];
      const fields = fieldsOf(operation, args);
      await audit?.record(context, {
        action: `${verb}${name}AsAdmin`,
        target: `${plural}:${id}`,
        ...(fields.length > 0 && { detail: { fields } }),
      });
    },
    read: async (context, types) => {
      for (const { name, plural } of types) {
        const key = `${readerKey(context)} ${name}`;
        const last = reads.get(key);
        if (last !== undefined && now() - last < MINUTE) continue;
        await audit?.record(context, { action: 'readRowsAsAdmin', target: plural });
        reads.set(key, now(), 1);
      }
    },
  };
}

/** A text for one reader. An administrator who acts as a user counts as a different reader. */
function readerKey(context: RequestContext): string {
  const { principal } = context;
  const impersonator = 'impersonator' in principal ? ` by ${principal.impersonator}` : '';
  return callerKey(context) + impersonator;
}

/** The names of the fields that an input sets. */
function fieldsOf(
  { action }: WrittenRow['operation'],
  args: Readonly<Record<string, unknown>>,
): string[] {
  const input = 'input' in action && action.input !== undefined ? args[action.input] : undefined;
  return Object.keys(input ?? {}).slice(0, MOST_FIELDS);
}

const MOST_FIELDS = 50;
