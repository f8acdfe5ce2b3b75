import { tenantEntity } from '../../build/memberships.ts';
import { tenantKeys } from '../../build/tenant.ts';
import { userEntity } from '../../build/user.ts';
import type { AuthUse } from '../../directives/of-both.ts';
import type { EntityFact, FieldFact } from '../../build/facts.ts';
import type { Built } from '../../build/built.ts';
import type { Action, Verb, WriteShape } from '../../model.ts';
import type { Finding } from '../../parse/places.ts';
import type { Change } from '../../parse/changes.ts';
import { finding, listed, onField, onType, quoted } from '../../rules/finding.ts';
import type { Advice, Rule } from '../../rules/finding.ts';

/** AUTH_USER_OPEN, AUTH_TYPE_OPEN: a new account must not be able to change the rows of others. */
export const openTypes: Rule = function* (built) {
  const user = userEntity(built.facts);
  if (!built.facts.manifest.values.auth) return;
  for (const entity of built.facts.entities.values()) {
    if (entity !== user) yield* typeOpen(built, entity, user);
    else {
      yield* userOpen(built, entity);
      yield* privileges(built, entity);
    }
  }
};

const rulesFor = (uses: readonly AuthUse[], verb: Verb) =>
  uses.filter(({ on }) => on.includes(verb));

interface Mutation {
  readonly field: FieldFact;
  readonly verb: Verb;
  readonly write?: WriteShape | undefined;
}

const VERBS: Readonly<Record<string, readonly Verb[]>> = {
  create: ['CREATE'],
  update: ['UPDATE'],
  remove: ['DELETE'],
  upsert: ['CREATE', 'UPDATE'],
  createMany: ['CREATE'],
  updateMany: ['UPDATE'],
  removeMany: ['DELETE'],
};

/** Mutations without a user's function, for the type that they write. */
function mutationsOf({ operations, shapes }: Built, { name }: EntityFact): Mutation[] {
  return operations.flatMap(({ field, operation: { action } }): Mutation[] =>
    'returns' in action && action.entity === name
      ? (VERBS[action.kind] ?? []).map((verb) => ({
          field,
          verb,
          write: shapes.writes.get(shapeFor(action, verb) ?? ''),
        }))
      : [],
  );
}

function shapeFor(action: Action, verb: Verb): string | undefined {
  if (action.kind === 'upsert') return action[verb === 'CREATE' ? 'create' : 'update'].write;
  return 'write' in action ? action.write : undefined;
}

function* typeOpen(
  built: Built,
  entity: EntityFact,
  user: EntityFact | undefined,
): Generator<Finding> {
  const open = mutationsOf(built, entity).filter(
    ({ field, verb }) =>
      rulesFor(field.directives.auth, verb).length === 0 &&
      rulesFor(entity.directives.auth, verb).length === 0,
  );
  const changing = open.filter(({ verb }) => verb !== 'CREATE');
  if (changing.length === 0 || entity === tenantEntity(built.facts)) return;
  const verbs = (['CREATE', 'UPDATE', 'DELETE'] as const).filter((verb) =>
    open.some((mutation) => mutation.verb === verb),
  );
  const names = listed(changing.map(({ field }) => field.name));
  yield finding('AUTH_TYPE_OPEN', entity.node, {
    summary: `Every new account may change every ${entity.name}: ${names} ${changing.length === 1 ? 'has' : 'have'} no rule`,
    why: 'without @auth a signed-in user is all that is asked for',
    ...closingRule(built, entity, user, verbs),
    severity: 'warning',
  });
}

/** An `@auth` that closes the type: for owners if its rows have one, otherwise for a role. */
function closingRule(
  built: Built,
  entity: EntityFact,
  user: EntityFact | undefined,
  verbs: readonly Verb[],
): Advice {
  const [company, other] = tenantKeys(built.shapes, entity);
  const on = `[${verbs.join(', ')}]`;
  if (company?.field && !other)
    return ruled(onType(entity, 'auth', { allow: '[TENANT]', tenant: quoted(company.field.name) }));
  const keys = built.links.keys.get(entity.name) ?? [];
  const key = keys.find(({ target, field }) => target === user?.name && field);
  if (key?.field)
    return ruled(onType(entity, 'auth', { allow: '[OWNER]', owner: quoted(key.field.name), on }));
  const roles = built.facts.manifest.values.auth?.roles;
  if (roles) {
    const names = `[${quoted(roles.list[0] ?? '')}]`;
    return ruled(onType(entity, 'auth', { allow: '[ROLE]', roles: names, on }));
  }
  const rule = `@auth(allow: [ROLE], roles: ["Administrator"], on: ${on})`;
  return { fix: `type ${entity.name} ${rule}, ${ROLES}; or OWNER, with a field that holds a user` };
}

/** Adds one more `@auth` beside existing ones. */
const ruled = (change: Change): Advice => ({
  changes: [change.kind === 'directive' ? { ...change, repeated: true } : change],
});

const ROLES =
  'in manifest.yaml: auth: { roles: { list: [Administrator, Member], default: Member, first: Administrator } }';

const OTHERS = ['PUBLIC', 'USER'] as const;

function* userOpen(built: Built, user: EntityFact): Generator<Finding> {
  const open = new Map<AuthUse, Verb[]>();
  for (const verb of ['UPDATE', 'DELETE'] as const)
    for (const use of decisiveRules(built, user, verb))
      if (OTHERS.some((who) => use.allow.includes(who)))
        open.set(use, [...(open.get(use) ?? []), verb]);
  for (const [use, verbs] of open)
    yield finding('AUTH_USER_OPEN', use.node, {
      summary: `This rule lets people ${listed(verbs.map((verb) => verb.toLowerCase()))} the ${user.name} of others`,
      why: 'a row of this type is an account, and belongs to one person',
      fix: withOwnerRule(use, verbs),
      severity: 'warning',
    });
}

/** The rules of the type for a verb, or of its mutations if the type has none for it. */
function decisiveRules(built: Built, user: EntityFact, verb: Verb): AuthUse[] {
  const own = rulesFor(user.directives.auth, verb);
  if (own.length > 0) return own;
  const mutations = mutationsOf(built, user).filter((mutation) => mutation.verb === verb);
  return mutations.flatMap(({ field }) => rulesFor(field.directives.auth, verb));
}

/** The rule without these verbs, and a rule with OWNER for them. */
function withOwnerRule({ allow, roles, owner, on }: AuthUse, verbs: readonly Verb[]): string {
  const rest = on.filter((verb) => !verbs.includes(verb));
  const words = [
    `allow: [${allow.join(', ')}]`,
    ...(roles.length > 0 ? [`roles: ${JSON.stringify(roles)}`] : []),
    ...(owner === undefined ? [] : [`owner: ${JSON.stringify(owner)}`]),
    `on: [${rest.join(', ')}]`,
  ];
  const kept = rest.length > 0 ? `@auth(${words.join(', ')}) ` : '';
  return `${kept}@auth(allow: [OWNER], on: [${verbs.join(', ')}])`;
}

const PRIVILEGE = /^(?:roles?|permissions?|(?:is_)?(?:admin|administrator|staff|superuser|owner))$/;

/** Users must not be able to change their own privileges. */
function* privileges(built: Built, user: EntityFact): Generator<Finding> {
  const found = new Set<FieldFact>();
  for (const { verb, write } of mutationsOf(built, user))
    for (const { kind, ...written } of verb === 'UPDATE' ? (write?.writes ?? []) : []) {
      const name = 'field' in written ? written.field : written.name;
      const field = kind === 'ignored' ? undefined : user.fields.get(name);
      if (field && PRIVILEGE.test(field.snakeName) && !isGuarded(field)) found.add(field);
    }
  const roles = built.facts.manifest.values.auth?.roles;
  const rule: Readonly<Record<string, string>> = roles
    ? { allow: '[ROLE]', roles: `[${quoted(roles.list[0] ?? '')}]` }
    : { allow: '[API_KEY]' };
  for (const field of found)
    yield finding('AUTH_USER_OPEN', field.node, {
      summary: `People could set their own ${field.name}`,
      why: 'a mutation updates it, and the owner of a row may update it',
      ...ruled(onField(field, 'auth', { ...rule, on: '[CREATE, UPDATE]' })),
      severity: 'warning',
    });
}

const isGuarded = ({ directives }: FieldFact) => rulesFor(directives.auth, 'UPDATE').length > 0;
