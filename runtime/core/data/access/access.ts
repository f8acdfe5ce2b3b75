import type {
  AuthRule,
  Condition,
  TenantPath,
  Entity,
  Field,
  Operation,
  Verb,
} from '@twofold/schema';
import type { Membership, Principal } from '../../context/request-context.ts';
import { hasScope } from '../../context/scopes.ts';
import { isUnrestricted } from '../../context/unrestricted.ts';
import { AppError, failure } from '../../errors.ts';
import { claimClass, claimsOf, isAnswerable, type Claims } from './claims.ts';
import type { Model } from '../model.ts';
import {
  organizationClass,
  tenantCondition,
  type Access,
  type Belonging,
  type Refusal,
  type RowCondition,
} from './row-condition.ts';

export type { Access, Refusal } from './row-condition.ts';

/**
 * The access rules as they apply to one caller. Two callers of one class differ only in their id,
 * so plans are kept by class.
 */
export interface Rules {
  readonly callerClass: string;
  /** The user id of the caller, if it acts for a user. */
  readonly caller: number | string | null;
  /** The caller's organizations, which conditions on rows are compared with. */
  readonly organizations: readonly Membership[];
  /** Whether the caller is a user. Null when only the statement decides it. */
  readonly signedIn: boolean | null;
  /** The values of the caller's token, which conditions on rows are compared with. */
  readonly claims: Claims;
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
  /** The rules after the caller has become a member of one more organization. */
  joined(membership: Membership): Rules;
  /** Access to a root field. */
  operation(operation: Operation, verb: Verb): RootAccess;
}

/** The access to a root field. `explicit` means that the field has rules of its own. */
export type RootAccess = Access & { readonly explicit: boolean };

export const ALL: Access = { kind: 'all' };

/** The rules for code to which no rules apply. */
export const UNRESTRICTED: Rules = {
  callerClass: 'system',
  caller: null,
  organizations: [],
  signedIn: null,
  claims: null,
  entity: () => ALL,
  field: () => ALL,
  reaches: () => true,
  writesIdentity: false,
  joined: () => UNRESTRICTED,
  operation: () => ({ ...ALL, explicit: false }),
};

/**
 * The operator may do what a key with every scope may do, where their token counts for the data.
 */
const OPERATOR: Principal = { kind: 'api_key', id: 'host', scopes: ['*'], userId: null };
const ANONYMOUS: Principal = { kind: 'anonymous' };

/** The token of the operator counts where they host, and where the console is theirs. */
function asCaller({ project }: Model, principal: Principal): Principal {
  if (principal.kind !== 'host') return principal;
  return principal.permissions || project.hosting ? OPERATOR : ANONYMOUS;
}

/** @example createRules(model, context.principal).entity(post, 'READ') // { kind: 'rows', conditions: [[{ kind: 'caller', column: 'author_id' }]] } */
export function createRules(model: Model, caller: Principal): Rules {
  if (isUnrestricted(caller)) return unrestricted(callerId(caller));
  const principal = asCaller(model, caller);
  const { access } = model.project.api;
  const refused = none(principal);
  const byDefault = access === 'public' || isCaller(principal) ? ALL : refused;
  const reaches = (entity: Entity, verb: Verb) => inScope(principal, entity.plural, verb);
  const within = (entity: Entity, verb: Verb, access: Access): Access =>
    reaches(entity, verb) ? access : refused;
  return {
    callerClass: callerClass(principal) + claimClass(model, principal),
    organizations: organizationsOf(principal),
    caller: callerId(principal),
    signedIn: callerId(principal) !== null,
    claims: claimsOf(principal),
    reaches,
    writesIdentity: false,
    joined: (membership) => createRules(model, withMembership(principal, membership)),
    entity: decidedOnce((entity, verb) =>
      within(
        entity,
        verb,
        decide({ model, principal, entity: entity.name }, entity.rules, verb) ?? byDefault,
      ),
    ),
    field: (entity, field, verb) =>
      decide({ model, principal, entity: entity.name }, field.rules, verb) ?? ALL,
    operation: (operation, verb) => {
      const { action } = operation;
      const entity = 'entity' in action ? action.entity : '';
      const decided = decide({ model, principal, entity }, operation.rules, verb);
      return decided ? { ...decided, explicit: true } : { ...byDefault, explicit: false };
    },
  };
}

/** Remembers what was decided, because it is asked again for each row that a resolver gets. */
function decidedOnce(decideFor: Rules['entity']): Rules['entity'] {
  const known = new Map<Entity, Partial<Record<Verb, Access>>>();
  return (entity, verb) => {
    const decided = known.get(entity) ?? {};
    if (!known.has(entity)) known.set(entity, decided);
    return (decided[verb] ??= decideFor(entity, verb));
  };
}

/** A caller without rules is still who they are, in what is written for them. */
function unrestricted(caller: Rules['caller']): Rules {
  if (caller === null) return UNRESTRICTED;
  const rules: Rules = { ...UNRESTRICTED, caller, joined: () => rules };
  return rules;
}

function callerId(principal: Principal): number | string | null {
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

/** The access to put into a plan whose root field has rules of its own. */
export function replacing(own: RootAccess, access: Access): { readonly access?: Access } {
  return own.explicit && access.kind !== 'none' ? { access: withoutRoot(access) } : {};
}

const withoutRoot = (access: Access): Access =>
  access.kind === 'rows' ? { kind: 'rows', conditions: access.conditions } : ALL;

/** Returns the rows that both rules allow. */
export function both(a: Access, b: Access): Access {
  if (a.kind === 'none') return a;
  if (b.kind === 'none') return b;
  if (a.kind === 'all') return b;
  if (b.kind === 'all') return a;
  return { kind: 'rows', conditions: [...a.conditions, ...b.conditions] };
}

const isCaller = ({ kind }: Principal) => kind === 'user' || kind === 'api_key';

/** Whose access to which entity is decided. */
interface Deciding {
  readonly model: Model;
  readonly principal: Principal;
  /** Empty for a root field that is about no entity. */
  readonly entity: string;
}

/** Returns undefined when no rule names the verb. */
function decide(deciding: Deciding, rules: readonly AuthRule[], verb: Verb): Access | undefined {
  const { principal } = deciding;
  const relevant = rules.filter((rule) => rule.on.length === 0 || rule.on.includes(verb));
  if (relevant.length === 0) return undefined;
  if (relevant.some((rule) => !rule.where && allowsAlways(rule, principal))) return ALL;
  const conditions = relevant.flatMap((rule) => conditionsOf(deciding, rule));
  return conditions.length > 0
    ? { kind: 'rows', conditions: [distinct(conditions)] }
    : none(principal);
}

const none = ({ kind }: Principal): Access => ({
  kind: 'none',
  code: kind === 'anonymous' ? 'UNAUTHENTICATED' : 'FORBIDDEN',
});

/** The conditions of one rule. A row needs to meet only one of them. */
function conditionsOf(deciding: Deciding, rule: AuthRule): RowCondition[] {
  const { where } = rule;
  const { model, principal, entity } = deciding;
  if (!where) return whoOf(deciding, rule);
  const caller = callerId(principal);
  const claims = claimsOf(principal);
  if (!isAnswerable(model, { entity, condition: where }, { caller, claims })) return [];
  if (allowsAlways(rule, principal)) return [where];
  const who = whoOf(deciding, rule);
  return who.length > 0 ? [{ kind: 'both', who, where }] : [];
}

/** A signed-in user of no special kind. */
const ANY_USER: Principal = {
  kind: 'user',
  id: 0,
  role: null,
  permissions: [],
  sessionId: '',
  extend: {},
};

/**
 * The conditions of a rule on rows, for any caller. Empty when the rule only names callers.
 *
 * @example ruleConditions(model, rule) // [{ kind: 'caller', column: 'author_id' }]
 */
export function ruleConditions(model: Model, rule: AuthRule): readonly RowCondition[] {
  const who = whoOf({ model, principal: ANY_USER, entity: '' }, rule);
  const { where, allow } = rule;
  const others = allow.some((word) => word !== 'OWNER' && word !== 'TENANT');
  if (!where) return others ? [] : who;
  return others || who.length === 0 ? [where] : [{ kind: 'both', who, where }];
}

/** The conditions by which a row belongs to the caller, for what the rule allows. */
function whoOf(
  { model, principal }: Deciding,
  { allow, roles, owner, ownedBy, tenant }: AuthRule,
): (Belonging | Condition)[] {
  const who: (Belonging | Condition)[] = [];
  if (allow.includes('OWNER') && callerId(principal) !== null) {
    if (owner !== undefined) who.push({ kind: 'caller', column: owner });
    if (ownedBy) who.push(ownedBy);
  }
  if (allow.includes('TENANT') && tenant && isCaller(principal))
    who.push(tenantRow(model, tenant, roles, principal));
  return who;
}

/**
 * A request that is narrowed to one organization, and a key without a user, see what is in their
 * list.
 */
function tenantRow(
  model: Model,
  tenant: TenantPath,
  roles: readonly string[],
  principal: Principal,
): Belonging {
  const isListed = callerId(principal) === null || ('narrowed' in principal && principal.narrowed);
  if (tenant.memberships && !isListed)
    return { kind: 'membership', column: tenant.column, roles, ...tenant.memberships };
  return tenantCondition((name) => model.entity(name).entity.table, tenant, roles);
}

const distinct = (conditions: readonly RowCondition[]): RowCondition[] =>
  conditions.filter(
    (one, index) =>
      conditions.findIndex((other) => JSON.stringify(other) === JSON.stringify(one)) === index,
  );

/** The caller's organizations, or the one that the request is narrowed to. */
const organizationsOf = (principal: Principal): readonly Membership[] =>
  ('organizations' in principal && principal.organizations) || [];

function allowsAlways({ allow, roles, implied }: AuthRule, principal: Principal): boolean {
  if (implied && passesDefaults(principal, allow)) return true;
  if (allow.includes('PUBLIC')) return true;
  if (allow.includes('USER') && callerId(principal) !== null) return true;
  if (allow.includes('API_KEY') && isService(principal)) return true;
  return (
    allow.includes('ROLE') &&
    principal.kind === 'user' &&
    principal.role !== null &&
    roles.includes(principal.role.name)
  );
}

/**
 * Whether the caller is a key without a user. A key that acts for a user only gets that user's
 * access, because users make such keys themselves.
 */
const isService = (principal: Principal) =>
  principal.kind === 'api_key' && principal.userId === null;

/**
 * The default rules of the user type do not restrict a key without a user: its scopes decide. They
 * do restrict it if the default is about organizations or the key is bound to an organization.
 */
const passesDefaults = (principal: Principal, allow: AuthRule['allow']) =>
  principal.kind === 'api_key' &&
  principal.userId === null &&
  !principal.organizations?.length &&
  !allow.includes('TENANT');

/** An API key reaches what its scopes name: `posts:read`, `posts:*`, `*:read`, `*`. */
function inScope(principal: Principal, plural: string, verb: Verb): boolean {
  if (principal.kind !== 'api_key') return true;
  return hasScope(principal.scopes, `${plural}:${verb === 'READ' ? 'read' : 'write'}`);
}

const withMembership = (principal: Principal, membership: Membership): Principal =>
  principal.kind === 'user' || principal.kind === 'api_key'
    ? { ...principal, organizations: [...organizationsOf(principal), membership] }
    : principal;

function callerClass(principal: Principal): string {
  const narrowed = 'narrowed' in principal && principal.narrowed ? '!' : '';
  const organizations = narrowed + organizationClass(organizationsOf(principal));
  if (principal.kind === 'user') return `user:${principal.role?.name ?? ''}${organizations}`;
  if (principal.kind === 'api_key')
    return `key:${principal.userId === null ? '' : 'user'}${organizations}:${[...principal.scopes].sort().join(' ')}`;
  return 'anonymous';
}
