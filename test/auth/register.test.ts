import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mailedToken } from './totp-app.ts';
import type { Entity } from '@twofold/schema';
import {
  bearer,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

const ROLES = {
  list: ['Owner', 'Administrator', 'Member', 'Viewer'],
  default: 'Member',
  first: 'Owner',
};

describeEachDatabase('§2.4 register', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());

  it('takes the named fields and ignores every other', async () => {
    const answer = await server.register('fields@x.test', {
      id: 4711,
      role_id: 1,
      email_verified_at: 1,
      disabled_at: 5,
      tokens_valid_after: 9e15,
      isAdmin: true,
      first_name: 'F',
    });
    expect(answer.status).toBe(201);
    expect(answer.body.id).not.toBe(4711);
    const row = (await server.rows('auth_users')).find(
      ({ user_id }) => user_id === answer.body.id,
    )!;
    expect(row).toMatchObject({
      role_id: null,
      email_verified_at: null,
      disabled_at: null,
      tokens_valid_after: 0,
    });
  });

  it('a duplicate address, username or phone is one text, in any case', async () => {
    await server.register('dup@x.test', { username: 'dup', phone: '+1 555 0100' });
    const answers = [
      await server.register('DUP@x.test'),
      await server.register('other1@x.test', { username: 'DuP' }),
      await server.register('other2@x.test', { phone: '+1 555 0100' }),
    ];
    expect(answers.map(({ status, text }) => [status, text])).toEqual(
      answers.map(() => [409, '{"error":"User already exists"}']),
    );
    expect(
      (await server.rows('users')).filter(({ email }) => /other|dup/i.test(email)),
    ).toHaveLength(1);
  });

  it('of 20 registrations of one address at once, one wins and 19 get the same 409', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        server.register(index % 2 ? 'race@x.test' : 'RACE@x.test'),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
    const ids = new Set((await server.rows('users')).map(({ id }) => id));
    expect((await server.rows('auth_users')).every(({ user_id }) => ids.has(user_id))).toBe(true);
  });

  it('many without username and phone can register, each with a username of its own', async () => {
    const answers = await Promise.all(
      ['a', 'b', 'c', 'd'].map((domain) =>
        server.register(`same@${domain}.test`, { phone: '', username: '' }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    const names = answers.map(({ body }) => body.username);
    expect(new Set(names).size).toBe(4);
    expect(names.every((name) => /^same(-\d{4})?$/.test(name))).toBe(true);
    expect(answers.every(({ body }) => body.phone === '')).toBe(true);
  });

  const bad: [field: string, value: string, error: RegExp][] = [
    ['email', 'a\uFF20x.test', /^email must be/],
    ['email', '\u212A@x.test', /^email must be/],
    ['email', 'a@x.test\r\nBcc: c@evil.test', /^email must be/],
    ['email', '"a b"@x.test', /^email must be/],
    ['email', 'a@b@x.test', /^email must be/],
    ['email', 'a,b@x.test', /^email must be/],
    ['email', `${'a'.repeat(65)}@x.test`, /^email must be/],
    ['email', 'nobody', /^email must be/],
    ['username', 'ab', /^username must be/],
    ['username', 'has space', /^username must be/],
    ['username', 'ＦＵＬＬ', /^username must be/],
    ['phone', 'call me', /^phone must be/],
    ['first_name', 'a\u0000b', /^first_name must not/],
  ];
  for (const [field, value, error] of bad) {
    it(`refuses ${field} ${JSON.stringify(value)}`, async () => {
      const answer = await server.call('POST', '/api/auth/register', {
        email: 'fine@x.test',
        password: GOOD,
        [field]: value,
      });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatch(error);
    });
  }

  it('a missing field is named', async () => {
    expect((await server.call('POST', '/api/auth/register', { email: 'a@x.test' })).body).toEqual({
      error: 'password is required',
    });
    expect((await server.call('POST', '/api/auth/register', { password: GOOD })).body).toEqual({
      error: 'email is required',
    });
  });
});

describeEachDatabase('§2.4 roles of new users', (database) => {
  it('of twenty who register none gets the first role, with users before or without', async () => {
    const server = await startServer({ database, auth: { roles: ROLES } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => server.register()));
    expect(new Set(answers.map(({ body }) => body.role_name))).toEqual(new Set(['Member']));
    expect(Object.keys(answers[0]!.body).slice(5, 9)).toEqual([
      'email',
      'role_id',
      'role_name',
      'avatar_url',
    ]);
    expect(answers[0]!.body.extend).toMatchObject({ role: { id: 3, name: 'Member' } });
    await server.close();
  });

  it('nor when roles are switched on later', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'roles-later-'));
    const shared = database === 'SQLite' ? { url: `file:${join(folder, 'shared.db')}` } : {};
    const before = await startServer({ database, ...shared });
    await before.register('early@x.test');
    const after = await startServer({ database, url: before.databaseUrl, auth: { roles: ROLES } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => after.register()));
    expect(new Set(answers.map(({ body }) => body.role_name))).toEqual(new Set(['Member']));
    expect((await after.login('early@x.test')).body.role_name).toBeUndefined();
    await after.close();
    await before.close();
    rmSync(folder, { recursive: true, force: true });
  });
});

describeEachDatabase('§2.4 the user entity', (database) => {
  const column = (name: string, type: Entity['columns'][number]['type'], more: object = {}) => ({
    name,
    field: name,
    type,
    required: true,
    unique: false,
    scalar: 'String',
    list: false,
    ...more,
  });
  const person: Entity = {
    ...USER,
    name: 'Person',
    table: 'people',
    columns: [
      column('id', 'id', { scalar: 'ID' }),
      column('email', 'text'),
      column('firstName', 'text', { required: false }),
      column('avatarUrl', 'text', { required: false }),
      column('company', 'text', { constraint: { minLength: 2 } }),
      column('plan', 'text', {
        values: ['free', 'paid'],
        default: { kind: 'value', value: 'free' },
      }),
      column('createdAt', 'timestamp', { stamp: 'created' }),
      column('lastLogin', 'timestamp', { required: false }),
    ],
  };
  const user = {
    entity: 'Person',
    table: 'people',
    columns: {
      email: 'email',
      first_name: 'firstName',
      avatar_url: 'avatarUrl',
      last_login: 'lastLogin',
      created_at: 'createdAt',
    } as const,
    registerFields: ['company'],
  };

  for (const ids of ['integer', 'uuid'] as const) {
    it(`with ${ids} keys: what the entity declares stands in its own columns, the rest beside it`, async () => {
      const server = await startServer({ database, entity: person, ids, auth: { user } });
      const missing = await server.register('p@x.test', { first_name: 'Ada' });
      expect(missing.body).toEqual({ error: 'company is required' });
      expect((await server.register('p@x.test', { company: 'x' })).body.error).toMatch(
        /^company must not have fewer/,
      );
      const { body, status } = await server.register('p@x.test', {
        first_name: 'Ada',
        last_name: 'L',
        company: 'Acme',
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ first_name: 'Ada', last_name: 'L', email: 'p@x.test' });
      expect((await server.rows('people'))[0]).toMatchObject({
        email: 'p@x.test',
        firstName: 'Ada',
        company: 'Acme',
        plan: 'free',
        lastLogin: expect.any(String),
      });
      expect((await server.rows('auth_users'))[0]).toMatchObject({
        first_name: null,
        last_name: 'L',
        email: null,
      });
      expect(typeof body.id).toBe(ids === 'uuid' ? 'string' : 'number');
      expect(
        (await server.call('GET', '/api/auth/me', undefined, bearer(body.accessToken))).body.id,
      ).toBe(body.id);
      expect((await server.login('P@X.test')).status).toBe(200);
      await server.close();
    });
  }

  it('somebody whom the API made has no password, and cannot be registered again', async () => {
    const server = await startServer({ database, entity: USER });
    await server.kernel.store.db
      .insertInto('users')
      .values({ name: 'Made', email: 'Made@x.test' })
      .execute();
    expect((await server.login('made@x.test')).status).toBe(401);
    expect((await server.register('made@x.test')).status).toBe(409);
    await server.close();
  });
});

describeEachDatabase('§2.4 strict enumeration', (database) => {
  it('answers 202 for a new and for a taken address alike, and mails both', async () => {
    const server = await startServer({ database, auth: { enumeration: 'strict' } });
    const first = await server.register('quiet@x.test');
    const second = await server.register('quiet@x.test');
    const token = await mailedToken(server, 'verify-email');
    const verification = { token, password: GOOD };
    await server.call('POST', '/api/auth/verify-email', verification);
    await server.register('quiet@x.test');
    expect([first.status, first.text]).toEqual([202, '{"message":"Check your email to continue"}']);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    const mails = server.logs
      .map((line) => JSON.parse(line))
      .filter(({ mail }) => mail)
      .map(({ mail }) => mail.subject);
    const link = 'Confirm your email address';
    expect(mails).toEqual([link, link, 'You already have an account']);
    await server.close();
  });

  it('answers alike for a username or a telephone number that is taken, and gives another', async () => {
    const server = await startServer({ database, auth: { enumeration: 'strict' } });
    const first = await server.register('ann@x.test', { username: 'ann', phone: '+1 555 0100' });
    const second = await server.register('eve@x.test', { username: 'Ann', phone: '+1 555 0100' });
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    const [, eve] = await server.rows('auth_users');
    expect(eve).toMatchObject({ phone: null });
    expect(eve!['username']).toMatch(/^eve/);
    expect(server.logs.join()).toContain('The username Ann is taken: yours is eve');
    await server.close();
  });

  it('sends five mails an hour to one address, over all that strangers can ask for', async () => {
    const server = await startServer({
      database,
      auth: { enumeration: 'strict' },
      env: { RATE_LIMIT_ENABLED: 'true' },
    });
    const mails = () => server.logs.filter((line) => JSON.parse(line).mail).length;
    for (let count = 0; count < 5; count += 1)
      expect((await server.register('bombed@x.test')).status).toBe(202);
    // Three links that work are enough; a fourth would only be another mail.
    expect(mails()).toBe(3);
    expect(await server.rows('auth_one_time_tokens')).toHaveLength(3);
    const forgot = { email: 'bombed@x.test' };
    const ask = () => server.call('POST', '/api/auth/forgot-password', forgot);
    for (let count = 0; count < 4; count += 1) expect((await ask()).status).toBe(200);
    await expect.poll(mails).toBe(5);
    await server.register('other@x.test');
    await expect.poll(mails).toBe(6);
    expect(await server.rows('auth_one_time_tokens')).toHaveLength(6);
    await server.close();
  });
});
