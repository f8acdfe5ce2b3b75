import { applyEdits } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { identityKind } from '../../schema/build/identity.ts';
import { starters } from '../../templates/starter/index.ts';
import { projectOf, QUERY, read } from './reading.ts';

const AUTH = 'name: x\nauth: { roles: { list: [Admin, Member] } }';
const USER = 'type User { id: ID! name: String email: String! phone: String posts: [Post!]! }';
const POST = 'type Post @auth(allow: [OWNER]) { id: ID! title: String author: User! }';

const found = (sdl: string, manifest = AUTH) =>
  read(sdl, manifest)
    .diagnostics.filter(({ severity }) => severity !== 'hint')
    .map(({ code, fix }) => [code, fix]);

describe('what signs a person in', () => {
  it('is known under any of its spellings', () => {
    const kinds = {
      email: 'email eMail EMAIL emailAddress email_address mail',
      username: 'username userName user_name login loginName',
      phone: 'phone phoneNumber phone_number mobile mobilePhone telephone',
      last_login: 'lastLogin last_login lastLoginAt lastSignIn',
      state:
        'emailVerifiedAt emailVerified isEmailVerified verified isVerified phoneVerified confirmedAt locked isLocked lockedUntil accountLocked disabled disabledAt isDisabled enabled isActive banned suspendedUntil deleted deletedAt isDeleted',
    };
    for (const [kind, names] of Object.entries(kinds))
      expect(names.split(' ').filter((name) => identityKind(name) !== kind)).toEqual([]);
    const others =
      'name title activity emailNotifications phoneticName lastName verifier blockedUsers';
    expect(others.split(' ').filter(identityKind)).toEqual([]);
  });

  it('is written by no mutation: the fix says what to take out, and the flow that writes it', () => {
    const mutation = (body: string, inputs = '') =>
      found(`${QUERY}${USER} ${POST} type Mutation { ${body} } ${inputs}`);
    const made = 'POST /api/auth/register makes accounts';
    expect(mutation('createUser(name: String, email: String!): User!')).toEqual([
      ['AUTH_COLUMN_WRITTEN', `take createUser out of Mutation: ${made}`],
    ]);
    expect(mutation('updateUser(id: ID!, name: String, phone: String): User')).toEqual([
      [
        'AUTH_COLUMN_WRITTEN',
        'take "phone: String" out of Mutation.updateUser: PATCH /api/auth/me changes it',
      ],
    ]);
    expect(
      mutation(
        'createUser(input: I!): User! updateUser(id: ID!, input: I!): User',
        'input I { name: String email: String! }',
      ),
    ).toEqual([
      [
        'AUTH_COLUMN_WRITTEN',
        `take createUser out of Mutation: ${made}; take "email: String!" out of I: POST /api/auth/change-email changes it, and the new address proves itself`,
      ],
    ]);
    expect(mutation('updateUser(input: U!): User', 'input U { id: ID! email: String }')).toEqual([
      ['AUTH_COLUMN_WRITTEN', expect.stringMatching(/^take updateUser out of Mutation/)],
    ]);
    expect(
      mutation(
        'createPost(input: P!): Post!',
        'input P { title: String author: A! } input A { connect: K create: N } input K { id: ID! } input N { email: String! }',
      ),
    ).toEqual([['AUTH_COLUMN_WRITTEN', `take "create: N" out of A: ${made}`]]);
  });

  it('may be an argument of a function of your own, and stands in inputs that no mutation uses', () => {
    const own = `${QUERY}${USER} ${POST} type Mutation { createUser(email: String!): User! @resolve(as: CUSTOM) invite(email: String!): Boolean! } input Old { email: String! }`;
    expect(found(own)).toEqual([]);
  });

  it('is no matter without an auth section', () => {
    const sdl = `${QUERY}type User { id: ID! email: String! } type Mutation { createUser(email: String!): User! }`;
    expect(found(sdl, 'name: x')).toEqual([]);
  });

  it('is in no input of api.crud', () => {
    const { crudSdl, operations } = projectOf(
      `${QUERY}scalar DateTime ${USER.replace('phone', 'isLocked: Boolean lastLogin: DateTime phone')} ${POST}`,
      `${AUTH}\napi: { crud: true }`,
    );
    expect(crudSdl).toContain('input UpdateUserInput {\n  name: String\n}');
    expect(operations.map(({ name }) => name)).not.toContain('createUser');
    expect(crudSdl).not.toMatch(/email|phone|isLocked|lastLogin/);
  });

  it('stops the starter whose auth is uncommented, and the fixes of the findings mend it', () => {
    const manifest = starters.starter.manifest('x').replace('# auth: {}', 'auth: {}');
    expect(manifest).toContain('\nauth: {}');
    expect(found(starters.starter.schema, manifest)).toEqual([
      [
        'AUTH_COLUMN_WRITTEN',
        'take createUser out of Mutation: POST /api/auth/register makes accounts',
      ],
      [
        'AUTH_COLUMN_WRITTEN',
        'take "email: String" out of UpdateUserInput: POST /api/auth/change-email changes it, and the new address proves itself',
      ],
    ]);
    const { diagnostics } = read(starters.starter.schema, manifest);
    const edits = diagnostics.flatMap(({ fixes }) => fixes?.[0]?.edits ?? []);
    const mended = applyEdits(starters.starter.schema, edits);
    expect(mended).toBe(
      starters.starter.schema
        .replace(/ {2}createUser.*\n/, '')
        .replace(/(input UpdateUserInput \{[^}]*?) {2}email: String\n/, '$1'),
    );
    expect(found(mended, manifest)).toEqual([]);
  });

  it('gives no template a finding', () => {
    for (const { schema, manifest } of Object.values(starters))
      expect(found(schema, manifest('x'))).toEqual([]);
  });
});

describe('rules that the schema leaves unsaid', () => {
  const rulesOf = (user: string) => {
    const { entities } = projectOf(`${QUERY}${user}`, AUTH);
    const entity = entities.find(({ name }) => name === 'User')!;
    return {
      type: entity.rules.map(({ allow, on, implied }) => [allow, on, implied]),
      fields: Object.fromEntries(
        entity.fields.flatMap(({ name, rules }) =>
          rules.map(({ allow, on, implied }) => [name, [allow, on, implied]]),
        ),
      ),
    };
  };
  const owner = [['OWNER'], ['READ'], true];

  it('keep accounts to their owners, and names to who signed in', () => {
    expect(
      rulesOf(
        'type User { id: ID! name: String username: String email: String! phoneNumber: String isLocked: Boolean }',
      ),
    ).toEqual({
      type: [
        [['USER'], ['READ'], true],
        [['OWNER'], ['UPDATE'], true],
        [[], ['CREATE', 'DELETE'], true],
      ],
      fields: { email: owner, phoneNumber: owner, isLocked: owner },
    });
  });

  it('give way to what is said, operation by operation and field by field', () => {
    expect(
      rulesOf(
        'type User @auth(allow: [PUBLIC], on: [READ, DELETE]) { id: ID! email: String! @auth(allow: [USER], on: [READ]) phone: String @auth(allow: [OWNER], on: [UPDATE]) }',
      ),
    ).toEqual({
      type: [
        [['PUBLIC'], ['READ', 'DELETE'], undefined],
        [['OWNER'], ['UPDATE'], true],
        [[], ['CREATE'], true],
      ],
      fields: { email: [['USER'], ['READ'], undefined], phone: owner },
    });
  });

  it('are no part of another type, nor of a project without accounts', () => {
    const { entities } = projectOf(
      `${QUERY}${USER} type Post { id: ID! author: User! }`,
      'name: x',
    );
    expect(entities.flatMap(({ rules }) => rules.filter(({ implied }) => implied))).toEqual([]);
  });
});

describe('the database', () => {
  it('has a unique index of each identity as it is compared', () => {
    const { entities } = projectOf(
      `${QUERY}type User { id: ID! email: String! userName: String username: String phone: String }`,
      AUTH,
    );
    expect(entities[0]?.indexes).toEqual([
      { name: 'users_email_identity_key', columns: ['email'], unique: true, fold: 'letters' },
      { name: 'users_username_identity_key', columns: ['username'], unique: true, fold: 'letters' },
      { name: 'users_phone_identity_key', columns: ['phone'], unique: true, fold: 'digits' },
    ]);
  });
});
