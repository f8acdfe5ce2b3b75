import { isEnumType } from 'graphql';
import { storedAs } from '../../build/columns.ts';
import { userAttributes } from '../../build/user.ts';
import { coordinate, type EntityFact, type FieldFact } from '../../build/facts.ts';
import type { Built } from '../../build/built.ts';
import { didYouMean } from '../../did-you-mean.ts';
import type { Position } from '../../diagnostic.ts';
import type { Finding } from '../../parse/places.ts';
import type { AuthValues } from '../manifest.ts';
import { finding, onField, type Advice, type Rule } from '../../rules/finding.ts';

/**
 * AUTH_USER_UNKNOWN, AUTH_USER_EMAIL, AUTH_USER_FIELD_UNSET, AUTH_REGISTER_FIELD_UNKNOWN,
 * AUTH_REGISTER_PRIVILEGE, AUTH_CREDENTIAL_FIELD, AUTH_USER_KEY: users must be able to register.
 */
export const userType: Rule = function* (built) {
  const { auth } = built.facts.manifest.values;
  if (!auth) return;
  const entity = built.facts.entities.get(auth.user ?? 'User');
  const email = entity && userAttributes(entity).get('email');
  // A type that is only by chance called User is allowed, as long as the runtime can have a users
  // table of its own.
  const isOther = auth.user === undefined && !email && entity?.table !== 'users';
  if (!entity || isOther) return yield* noEntity(built, auth);
  if (!email || storedAs(email, built.facts) !== 'text') return yield noEmail(built, entity, auth);
  yield* userKey(built, entity);
  yield* registerFields(built, entity, auth);
  yield* unsetFields(built, entity, auth);
  yield* credentials(entity);
};

function* noEntity({ facts }: Built, auth: AuthValues): Generator<Finding> {
  if (auth.user !== undefined) {
    const fix =
      didYouMean(auth.user, facts.entities.keys()) ??
      `type ${auth.user} { id: ID! email: String! }`;
    return yield finding('AUTH_USER_UNKNOWN', facts.manifest.at(['auth', 'user']), {
      summary: `There is no type ${auth.user} that is kept in a table`,
      fix,
    });
  }
  const squatter = [...facts.entities.values()].find(({ table }) => table === 'users');
  if (squatter)
    yield finding('TABLE_RESERVED', squatter.node, {
      summary: `The table users of ${squatter.name} is the one that signing in keeps`,
      why: 'no type of the schema is the user',
      fix: `in manifest.yaml: auth: { user: ${squatter.name} }`,
    });
  for (const field of auth.register.fields)
    yield finding(
      'AUTH_REGISTER_FIELD_UNKNOWN',
      facts.manifest.at(['auth', 'register', 'fields']),
      {
        summary: `auth.register.fields names ${field}, and no type is the user`,
        fix: 'add type User { id: ID! email: String! }',
      },
    );
}

function noEmail({ facts }: Built, entity: EntityFact, auth: AuthValues): Finding {
  const others = [...facts.entities.values()].filter((other) => userAttributes(other).has('email'));
  const fix = `email: String! @unique${others[0] ? `   or, in manifest.yaml: auth: { user: ${others[0].name} }` : ''}`;
  const present = entity.fields.get('email');
  const at =
    present?.node ?? (auth.user === undefined ? entity.node : facts.manifest.at(['auth', 'user']));
  return finding('AUTH_USER_EMAIL', at, {
    summary: present
      ? `${entity.name}.email is ${present.type.text}, and people sign in with a text`
      : `${entity.name} has no email, and people sign in with it`,
    fix,
  });
}

/** The tables of accounts refer to users by keys of the project's form. */
function* userKey(
  { facts, shapes }: Built,
  { name, fields, node }: EntityFact,
): Generator<Finding> {
  const { ids } = facts.manifest.values.database;
  const kind = shapes.columns.get(name)?.find((column) => column.name === 'id')?.key ?? ids;
  // SQLite keeps UUIDs in texts.
  if (kind === ids || (kind === 'text' && ids === 'uuid')) return;
  const isText = kind === 'text';
  yield finding('AUTH_USER_KEY', fields.get('id')?.node ?? node, {
    summary: `${name}.id is a ${KEY_WORDS[kind]}, and accounts refer to users by a ${KEY_WORDS[ids]}`,
    why: `the manifest says database: { ids: ${ids} }`,
    fix: isText
      ? 'give the table a key that is a whole number or a UUID'
      : `in manifest.yaml: database: { ids: ${kind} }`,
  });
}

const KEY_WORDS = { integer: 'whole number', uuid: 'UUID', text: 'text' } as const;

function* registerFields(
  { facts }: Built,
  entity: EntityFact,
  auth: AuthValues,
): Generator<Finding> {
  for (const [index, name] of auth.register.fields.entries()) {
    const field = entity.fields.get(name);
    if (field && PRIVILEGE.test(field.snakeName))
      yield privilege(field, facts.manifest.at(['auth', 'register', 'fields', index]));
    if (field && (storedAs(field, facts) || field.type.kind === 'entity')) continue;
    yield finding(
      'AUTH_REGISTER_FIELD_UNKNOWN',
      facts.manifest.at(['auth', 'register', 'fields', index]),
      {
        summary: `${entity.name} has no field ${name} that register could fill`,
        fix:
          didYouMean(name, entity.fields.keys()) ??
          `known: ${[...entity.fields.keys()].filter((known) => known !== 'id').join(', ')}`,
      },
    );
  }
}

const PRIVILEGE = /^(?:roles?|permissions?|(?:is_)?(?:admin|staff|superuser|owner))$/;

function privilege(field: FieldFact, at: Position): Finding {
  return finding('AUTH_REGISTER_PRIVILEGE', at, {
    summary: `A new account would choose its own ${field.name}`,
    why: 'what register takes, anybody can send',
    fix: `remove it here, and give ${coordinate(field)} a @default`,
    severity: 'warning',
  });
}

/** Columns that registration fills, from its body or by the clock. */
export const FILLED_COLUMNS: ReadonlySet<string> = new Set([
  'email',
  'name',
  'first_name',
  'last_name',
  'username',
  'phone',
  'avatar_url',
  'last_login',
  'created_at',
  'updated_at',
]);

function* unsetFields(built: Built, entity: EntityFact, auth: AuthValues): Generator<Finding> {
  const { hooks, completesUser } = built.facts;
  // Code that no rule reads may set every column.
  if (completesUser || hooks[entity.name]?.completesCreate) return;
  for (const column of built.shapes.columns.get(entity.name) ?? []) {
    if (!column.required || column.default || column.stamp || column.name === 'id') continue;
    const field = fieldOf(built, entity, column.name);
    if (!field || FILLED_COLUMNS.has(field.snakeName) || auth.register.fields.includes(field.name))
      continue;
    yield finding('AUTH_USER_FIELD_UNSET', field.node, {
      summary: `Registration would always fail: nothing fills ${coordinate(field)}`,
      why: 'it is required, has no default, and is no part of what register takes',
      ...(choice(field) ?? {
        fix: `in manifest.yaml: auth: { register: { fields: [${[...auth.register.fields, field.name].join(', ')}] } }`,
      }),
    });
  }
}

/**
 * Users who register must not choose their own role: it gets a default, the weakest role if the
 * names show which one that is.
 */
function choice(field: FieldFact): Pick<Advice, 'changes'> | undefined {
  const fallback = (value: string) => ({ changes: [onField(field, 'default', { value })] });
  if (field.named.name === 'Boolean') return fallback('false');
  if (!isEnumType(field.named) || field.type.list) return undefined;
  const names = field.named.getValues().map(({ name }) => name);
  return fallback(
    names.find((name) => /user|member|viewer|guest|reader/i.test(name)) ?? names[0] ?? '',
  );
}

function fieldOf({ links }: Built, entity: EntityFact, column: string): FieldFact | undefined {
  const key = links.keys.get(entity.name)?.find((candidate) => candidate.column === column);
  return key ? key.field : [...entity.fields.values()].find((field) => field.snakeName === column);
}

const CREDENTIALS = [
  'password',
  'password_hash',
  'hashed_password',
  'passwd',
  'pin',
  'otp_secret',
  'totp_secret',
  'mfa_secret',
  'refresh_token',
  'access_token',
  'reset_token',
  'api_key',
  'salt',
];

function* credentials(entity: EntityFact): Generator<Finding> {
  for (const field of entity.fields.values()) {
    if (!CREDENTIALS.includes(field.snakeName) || field.directives.computed) continue;
    yield finding('AUTH_CREDENTIAL_FIELD', field.node, {
      summary: `${coordinate(field)} would be stored and served as plain text`,
      why: 'signing in keeps credentials in a table of its own, hashed, where no query and no mutation reaches them',
      fix: 'remove the field; people set their password by POST /api/auth/register',
    });
  }
}
