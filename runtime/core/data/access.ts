import type { AuthRule, Entity, Field, Operation, Verb } from '@twofold/schema';
import type { Principal } from '../context/request-context.ts';
import { hasScope } from '../context/scopes.ts';
import { AppError, failure } from '../errors.ts';
import type { Model } from './model.ts';

/** What a caller may do with the rows of an entity, or with one field of them. */
export type Access =
  | { readonly kind: 'all' }
  /** Rows where one of these columns holds the caller's id. */
  | { readonly kind: 'owner'; readonly columns: readonly string[] }
  | { readonly kind: 'none'; readonly code: Refusal };

export type Refusal = 'UNAUTHENTICATED' | 'FORBIDDEN';

/**
 * The access rules as they apply to one class of callers. Two callers of one class differ only in
 * their id, so plans are kept by class.
 */
export interface Rules {
  readonly callerClass: string;
  entity(entity: Entity, verb: Verb): Access;
  /** Applies in addition to the entity's own rules. */
  field(entity: Entity, field: Field, verb: Verb): Access;
  /**
   * Whether the caller's scopes name the entity. True for callers without scopes, such as signed-in
   * users.
   */
  reaches(entity: Entity, verb: Verb): boolean;
  /** Whether the columns that users sign in with may be written: only seeds may write them. */
  readonly writesIdentity: boolean;
  /** Access to a root field. */
  operation(operation: Operation, verb: Verb): RootAccess;
}

/** What the rules of a root field say. `explicit`: the field has rules of its own. */
export type RootAccess = Access & { readonly explicit: boolean };

const ALL: Access = { kind: 'all' };

/** A user who signed in to operate the server may do what a key with every scope may do. */
const OPERATOR: Principal = { kind: 'api_key', id: 'host', scopes: ['*'], userId: null };

/** @example createRules(model, context.principal).entity(post, 'READ') // { kind: 'owner', columns: ['author_id'] } */
export function createRules(model: Model, caller: Principal): Rules {
  const principal = caller.kind === 'host' ? OPERATOR : caller;
  const { access } = model.project.api;
  const none: Access = {
    kind: 'none',
    code: principal.kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN',
  };
  const byDefault = access === 'public' || isCaller(principal) ? ALL : none;
  const reaches = (entity: Entity, verb: Verb) => inScope(principal, entity.plural, verb);
  const within = (entity: Entity, verb: Verb, access: Access): Access =>
    reaches(entity, verb) ? access : none;
  return {
    callerClass: callerClass(principal),
    reaches,
    writesIdentity: false,
    entity: (entity, verb) =>
      within(entity, verb, decide(entity.rules, verb, principal, none) ?? byDefault),
    field: (_, field, verb) => decide(field.rules, verb, principal, none) ?? ALL,
    operation: (operation, verb) => {
      const decided = decide(operation.rules, verb, principal, none);
      return decided ? { ...decided, explicit: true } : { ...byDefault, explicit: false };
    },
  };
}

/** The caller's user id, if it acts for a user. */
export function callerId(principal: Principal): number | string | null {
  if (principal.kind === 'user') return principal.id;
  return principal.kind === 'api_key' ? principal.userId : null;
}

export function refusal(code: Refusal): AppError {
  return code === 'UNAUTHENTICATED' ? failure.unauthenticated() : failure.forbidden();
}

/**
 * The rules of a root field replace a default. Rules that the schema states on the entity apply as
 * well.
 */
export function rootAccess(
  model: Model,
  rules: Rules,
  own: RootAccess,
  entityName: string,
  verb: Verb,
): Access {
  const { entity } = model.entity(entityName);
  const access = rules.entity(entity, verb);
  if (!own.explicit) return access;
  const speaks = entity.rules.some(
    ({ on, implied }) => !implied && (on.length === 0 || on.includes(verb)),
  );
  return speaks || !rules.reaches(entity, verb) ? both(own, access) : own;
}

/** The columns that must hold the caller's id, for a plan whose root field has rules of its own. */
export function ownersOf(own: RootAccess, access: Access): { readonly owners?: readonly string[] } {
  if (!own.explicit || access.kind === 'none') return {};
  return { owners: access.kind === 'owner' ? access.columns : [] };
}

/** Both must allow. */
export function both(a: Access, b: Access): Access {
  if (a.kind === 'none') return a;
  if (b.kind === 'none') return b;
  if (a.kind === 'all') return b;
  if (b.kind === 'all') return a;
  return { kind: 'owner', columns: a.columns.filter((column) => b.columns.includes(column)) };
}

const isCaller = ({ kind }: Principal) => kind === 'user' || kind === 'api_key';

/** Returns undefined when no rule names the verb. */
function decide(
  rules: readonly AuthRule[],
  verb: Verb,
  principal: Principal,
  none: Access,
): Access | undefined {
  const relevant = rules.filter((rule) => rule.on.length === 0 || rule.on.includes(verb));
  if (relevant.length === 0) return undefined;
  if (relevant.some((rule) => allowsAlways(rule, principal))) return ALL;
  const owners = relevant.flatMap((rule) =>
    rule.allow.includes('OWNER') && rule.owner ? [rule.owner] : [],
  );
  return owners.length > 0 && callerId(principal) !== null
    ? { kind: 'owner', columns: [...new Set(owners)] }
    : none;
}

function allowsAlways({ allow, roles, implied }: AuthRule, principal: Principal): boolean {
  if (implied && principal.kind === 'api_key' && principal.userId === null) return true;
  if (allow.includes('PUBLIC')) return true;
  if (allow.includes('USER') && callerId(principal) !== null) return true;
  if (allow.includes('API_KEY') && principal.kind === 'api_key') return true;
  return (
    allow.includes('ROLE') &&
    principal.kind === 'user' &&
    principal.role !== null &&
    roles.includes(principal.role.name)
  );
}

/** An API key reaches what its scopes name: `posts:read`, `posts:*`, `*:read`, `*`. */
function inScope(principal: Principal, plural: string, verb: Verb): boolean {
  if (principal.kind !== 'api_key') return true;
  return hasScope(principal.scopes, `${plural}:${verb === 'READ' ? 'read' : 'write'}`);
}

function callerClass(principal: Principal): string {
  if (principal.kind === 'user') return `user:${principal.role?.name ?? ''}`;
  if (principal.kind === 'api_key')
    return `key:${principal.userId === null ? '' : 'user'}:${[...principal.scopes].sort().join(' ')}`;
  return 'anonymous';
}
