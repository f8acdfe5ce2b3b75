import { createRequire } from 'node:module';
import bcrypt from 'bcrypt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPasswordPolicy } from '../../runtime/auth/passwords/password-policy.ts';
import { createPasswords, hashConcurrency } from '../../runtime/auth/passwords/passwords.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import {
  bearer,
  BETTER,
  describeEachDatabase,
  GOOD,
  startServer,
  type TestServer,
  USER,
} from './harness.ts';

describe('§2.7 hashing', () => {
  const passwords = createPasswords({ cost: 4, concurrency: 2, queue: 64 });

  it('a password of 72 bytes and one of 73 are told apart', async () => {
    const [short, long] = ['a'.repeat(72), 'a'.repeat(73)];
    const [hashShort, hashLong] = [await passwords.hash(short), await passwords.hash(long)];
    expect(hashShort).toMatch(/^\$2b\$/);
    expect(hashLong).toMatch(/^\$bcrypt-sha384\$\$2b\$/);
    expect([
      await passwords.verify(short, hashShort),
      await passwords.verify(long, hashLong),
    ]).toEqual([true, true]);
    expect([
      await passwords.verify(long, hashShort),
      await passwords.verify(short, hashLong),
      await passwords.verify(`${long}b`, hashLong),
    ]).toEqual([false, false, false]);
  });

  it('bytes behind a NUL count, and nothing is trimmed, folded or normalised', async () => {
    const stored = await passwords.hash('pass\0word');
    expect(await passwords.verify('pass\0word', stored)).toBe(true);
    for (const other of ['pass\0Word', 'pass', 'pass\0', ' pass\0word'])
      expect(await passwords.verify(other, stored)).toBe(false);
    const composed = await passwords.hash('caf\u00e9 au lait');
    expect(await passwords.verify('cafe\u0301 au lait', composed)).toBe(false);
  });

  it("reads hashes of others: $2a$ and PHP's $2y$", async () => {
    const hash = await bcrypt.hash('imported', 4);
    expect(await passwords.verify('imported', hash.replace('$2b$', '$2a$'))).toBe(true);
    expect(await passwords.verify('imported', hash.replace('$2b$', '$2y$'))).toBe(true);
    // Published test vectors of crypt_blowfish and jBCrypt.
    expect(
      await passwords.verify('U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'),
    ).toBe(true);
    expect(
      await passwords.verify('abc', '$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i'),
    ).toBe(true);
  });

  it('garbage and the empty text in place of a hash are a no', async () => {
    for (const stored of [
      '',
      'x',
      '$2b$',
      '$2b$99$aaa',
      '$bcrypt-sha384$',
      'plain text password',
      null,
    ])
      expect(await passwords.verify('x', stored)).toBe(false);
  });

  it('never takes so many threads that files and DNS have none', () => {
    expect(hashConcurrency('auto', 4)).toBeLessThanOrEqual(2);
    expect(hashConcurrency('auto', 1)).toBe(1);
    expect(hashConcurrency(7)).toBe(7);
  });
});

describe('§2.7 the policy', () => {
  const policy = createPasswordPolicy(DEFAULT_AUTH.password, ['Testshop']);
  const reason = (password: string, subject = {}) => policy.judge(password, subject).reason;

  it('accepts and refuses what the calibration says', () => {
    expect(
      ['password123', 'Password123!', 'Test1234!', 'securepassword'].map(
        (password) => policy.judge(password).acceptable,
      ),
    ).toEqual([false, false, false, false]);
    expect(
      ['Str0ngP@ss', 'SecurePass123!', 'Str0ng!Passw0rd', GOOD].map(
        (password) => policy.judge(password).acceptable,
      ),
    ).toEqual([true, true, true, true]);
  });

  it('names the reason', () => {
    expect(reason('short')).toBe('Password must be at least 8 characters');
    expect(reason('x'.repeat(257))).toBe('Password must be at most 256 characters');
    expect(reason('password1')).toBe('Password is too common');
    expect(reason('aaaaaaaaaaaa')).toBe('Password is too weak');
    expect(reason('correct lovelace battery', { last_name: 'Lovelace' })).toBe(
      'Password must not contain your name, username or email',
    );
    expect(reason('my TESTSHOP horse battery')).toBe(
      'Password must not contain your name, username or email',
    );
    expect(reason('xx ada xx horse battery', { first_name: 'Ada' })).toBeUndefined();
  });

  it('counts code points, not bytes', () => {
    expect(reason('\u{1F600}\u{1F680}\u{1F4A9}\u{1F98A}')).toBe(
      'Password must be at least 8 characters',
    );
  });

  it('refuses every one of the 3,000 most common passwords that is long enough (ASVS 6.2.4)', () => {
    const { dictionary } = createRequire(
      new URL('../../runtime/auth/package.json', import.meta.url),
    )('@zxcvbn-ts/language-common') as { dictionary: Record<string, string[]> };
    const common = dictionary['passwords-common']!.slice(0, 3000).filter(
      (password) => password.length >= 8,
    );
    expect(common.length).toBeGreaterThan(200);
    expect(common.filter((password) => policy.judge(password).acceptable)).toEqual([]);
  });

  it('has no rules of composition, and a long password costs no long time', () => {
    expect(policy.rules).toEqual({ min: 8, max: 256, score: 2, composition: false });
    expect(policy.judge('horse stapler battery').acceptable).toBe(true);
    const begun = performance.now();
    for (let index = 0; index < 20; index += 1)
      policy.judge(`${index} the quick brown fox jumps over the lazy dog `.repeat(5).slice(0, 256));
    expect(performance.now() - begun).toBeLessThan(1000);
  });
});

describeEachDatabase('§2.7 password endpoints', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, entity: USER });
  });
  afterAll(() => server.close());

  it('register refuses with the reason and makes nobody', async () => {
    const answer = await server.register('weak@x.test', { password: 'password123' });
    expect([answer.status, answer.text]).toEqual([400, '{"error":"Password is too common"}']);
    expect(
      (await server.register('local-part@x.test', { password: 'my local-part is long' })).body
        .error,
    ).toBe('Password must not contain your name, username or email');
    expect(await server.rows('users')).toEqual([]);
  });

  it('tells the policy and the strength', async () => {
    expect((await server.call('GET', '/api/auth/password-policy')).body).toEqual({
      min: 8,
      max: 256,
      score: 2,
      composition: false,
    });
    expect(
      (await server.call('POST', '/api/auth/password-strength', { password: 'password123' })).body,
    ).toMatchObject({ acceptable: false, reason: 'Password is too common' });
    expect(
      (await server.call('POST', '/api/auth/password-strength', { password: GOOD })).body,
    ).toEqual({ score: 4, acceptable: true });
  });

  it('change-password needs the current one, ends the other sessions and says so', async () => {
    await server.register('change@x.test');
    const [a, b] = [await server.login('change@x.test'), await server.login('change@x.test')];
    const change = (current_password: string, new_password: string) =>
      server.call(
        'POST',
        '/api/auth/change-password',
        { current_password, new_password },
        bearer(a.body.accessToken),
      );
    expect((await change('wrong', BETTER)).text).toBe('{"error":"Invalid credentials"}');
    expect((await change(GOOD, 'password123')).status).toBe(400);
    expect((await change(GOOD, BETTER)).body).toEqual({ message: 'Password changed' });
    const me = (token: string) => server.call('GET', '/api/auth/me', undefined, bearer(token));
    expect([(await me(a.body.accessToken)).status, (await me(b.body.accessToken)).status]).toEqual([
      200, 401,
    ]);
    expect([
      (await server.login('change@x.test')).status,
      (await server.login('change@x.test', BETTER)).status,
    ]).toEqual([401, 200]);
    expect(await server.events('password.changed')).toHaveLength(1);
  });

  it('a wrong current password counts for the lockout', async () => {
    await server.register('guess@x.test');
    const { body } = await server.login('guess@x.test');
    const change = () =>
      server.call(
        'POST',
        '/api/auth/change-password',
        { current_password: 'wrong', new_password: BETTER },
        bearer(body.accessToken),
      );
    const statuses = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await change()).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 423]);
  });
});
