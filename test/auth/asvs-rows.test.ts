import { readdirSync, readFileSync } from 'node:fs';
import type { AuthModel } from '@twofold/schema';
import { describe, expect, it } from 'vitest';
import { authFlows } from '../../runtime/auth/flows/index.ts';
import { DEFAULT_AUTH } from '../../runtime/auth/base/defaults.ts';
import { EVENT_TYPES } from '../../runtime/auth/events/event-types.ts';
import { asRoot, bearer, describeEachDatabase, startServer, USER } from './harness.ts';

/** Rows of ASVS 5.0 that no flow by itself comes by. */
const page = (path: string) =>
  readFileSync(new URL(`../../runtime/auth/${path}`, import.meta.url), 'utf8');
const README = page('README.md');
const DAY = 24 * 60 * 60_000;
const MINUTE = 60_000;

/** A paragraph of the README that begins with a bold word. */
const paragraph = (word: string) =>
  new RegExp(`^\\*\\*${word}\\*\\*[^]*?(?=\\n\\*\\*|\\n\\n|$(?![^]))`, 'm').exec(README)![0];

describe('§ASVS the documents and what they describe', () => {
  it('the limits and the lockout that the README tells are those of the code (6.1.1)', () => {
    const { attempts, window, duration, factor, max, hardAfter } = DEFAULT_AUTH.lockout;
    const told = paragraph('Limits');
    expect(told).toContain(`${attempts} failures in ${window / MINUTE} minutes lock an identifier`);
    expect(told).toContain(`for ${duration / MINUTE} minutes`);
    expect([factor, max]).toEqual([2, DAY]);
    expect(told).toContain('each further lock twice as long up to a day');
    expect(told).toContain(`after ${hardAfter} without a success`);
    expect(told).toContain('an attacker cannot lock a user out');
    const settings = page('docs/settings.md');
    const missing = Object.keys(DEFAULT_AUTH.rateLimits).filter(
      (name) => !settings.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });

  it('the words that no password contains are documented where they are set (6.1.2)', () => {
    const told = paragraph('Words');
    expect(told).toContain('`auth.password.context_words`');
    expect(DEFAULT_AUTH.password).toHaveProperty('contextWords');
  });

  it('every way in is documented with what protects it (6.1.3)', () => {
    const told = paragraph('Ways in');
    const opening = authFlows.filter(({ responses }) =>
      JSON.stringify(responses).includes('"accessToken"'),
    );
    expect(opening.filter(({ id }) => !told.includes(`\`${id}\``)).map(({ id }) => id)).toEqual([]);
    expect(told).toMatch(/second factor/);
    expect(told).toMatch(/lockout/);
    expect(told).toMatch(/rate limits/);
  });

  it('the times and the number of sessions that the README tells are those of the code (7.1.1, 7.1.2)', async () => {
    const { refresh, jwt } = DEFAULT_AUTH;
    const told = paragraph('Sessions');
    expect(told).toContain(
      `${refresh.idle / DAY} days idle, ${refresh.absolute / DAY} days at most`,
    );
    expect(told).toContain(`Access tokens live ${jwt.ttl / (60 * MINUTE)} hours`);
    const [, most] = /const MAX_SESSIONS = (\d+);/.exec(page('sessions/sessions.ts'))!;
    expect(told).toContain(`${most} for each user (the oldest ones end)`);
  });

  it('how long a session lives that a provider opened is documented (7.1.3, 7.6.1)', () => {
    expect(paragraph('Sessions')).toContain(
      'A session that a provider opened lives by the same times',
    );
  });

  it('what is logged, where and for how long is documented, and no other table is a log (16.1.1, 16.2.3)', () => {
    const told = paragraph('Logs');
    const logs = [
      ...page('base/tables.ts').matchAll(/(auth_\w+): `\s+id text primary key, ts bigint/g),
    ].map(([, table]) => table!);
    expect(logs.length).toBeGreaterThan(2);
    expect(logs.filter((table) => !told.includes(`\`${table}\``))).toEqual([]);
    expect(told).toContain(`(${(DEFAULT_AUTH as AuthModel).events.retention / DAY} days)`);
    const events = page('docs/events.md');
    const families = [...new Set(Object.keys(EVENT_TYPES))].filter(
      (type) => !events.includes(`\`${type}\``),
    );
    expect(families).toEqual([]);
  });

  it('no route changes or removes a line of a log, and reading one is management (16.4.2)', () => {
    const logs = authFlows.filter(({ path }) =>
      /login-attempts|security-events|permission-changes/.test(path),
    );
    expect(logs.length).toBeGreaterThan(2);
    expect(logs.map(({ method, access }) => `${method} ${access}`)).toEqual(
      logs.map(() => 'GET admin'),
    );
  });
});

describeEachDatabase('§ASVS accounts and passwords', (database) => {
  it('a start makes no account, no key and no session (6.3.2)', async () => {
    const server = await startServer({ database });
    for (const table of ['users', 'auth_users', 'auth_api_keys', 'auth_sessions'])
      expect([table, await server.rows(table)]).toEqual([table, []]);
    for (const name of ['admin', 'root', 'test', 'admin@localhost.test'])
      expect((await server.login(name, name)).status).toBe(401);
    await server.close();
  });

  it('fields of passwords are masked, and paste and password managers work (6.2.6, 6.2.7)', async () => {
    const server = await startServer({ database });
    for (const [path, kinds] of [
      ['/auth/sign-in', ['current-password']],
      ['/auth/register', ['new-password']],
      ['/auth/reset-password?token=x', ['new-password']],
    ] as const) {
      const { status, text } = await server.call('GET', path);
      expect([path, status]).toEqual([path, 200]);
      const fields = [...text.matchAll(/<input[^>]*>/g)]
        .map(([field]) => field)
        .filter((field) => /password/.test(field) && !/hidden/.test(field));
      expect([path, fields.length > 0]).toEqual([path, true]);
      for (const field of fields) {
        expect(field).toMatch(/type="password"/);
        expect(kinds.some((kind) => field.includes(`autocomplete="${kind}"`))).toBe(true);
        expect(field).not.toMatch(/onpaste|readonly|maxlength/i);
      }
    }
    const scripts = readdirSync(new URL('../../runtime/auth/pages/browser/', import.meta.url));
    for (const file of scripts.filter((name) => name.endsWith('.ts')))
      expect(page(`pages/browser/${file}`)).not.toMatch(/paste/i);
    await server.close();
  });

  it('a password is good until its owner changes it, years later too (6.2.10)', async () => {
    const server = await startServer({ database });
    await server.register('old@x.test');
    server.advance(3 * 365 * DAY);
    expect((await server.login('old@x.test')).status).toBe(200);
    await server.close();
  });

  it('a token decides for the user whom it names, whoever has their address now (10.3.3)', async () => {
    const server = await startServer({ database, entity: USER });
    const ann = (await server.register('ann@x.test')).body;
    const { db } = server.kernel.store;
    await db
      .updateTable('users')
      .set({ email: 'was-ann@x.test' })
      .where('id', '=', ann.id)
      .execute();
    const next = (await server.register('ann@x.test')).body;
    const me = async (token: string) =>
      (await server.call('GET', '/api/auth/me', undefined, bearer(token))).body.id;
    expect([await me(ann.accessToken), await me(next.accessToken)]).toEqual([ann.id, next.id]);
    await server.call('DELETE', `/api/auth/admin/users/${ann.id}`, undefined, asRoot);
    expect(await me(ann.accessToken)).toBeUndefined();
    await server.close();
  });
});
