import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { codeAt } from '../auth/totp-code.ts';
import { type ConsoleServer, GOOD, startConsole } from './server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="document.title=1">\u202e{{7*7}}';
const ADMIN = '/api/auth/admin';
const MANIFEST = `
name: shop
api: { rest: true, access: public }
auth: { roles: { list: [Owner, Support, Member, Viewer], first: Owner, default: Member } }
console: { roles: { Owner: ["*"], Support: ["auth:read", "auth:manage"], Viewer: ["*:read"] } }
`;

describeWith('chromium', 'the page Users', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let owner: Record<string, string>;
  const ids: Record<string, number> = {};
  const problems: string[] = [];
  const login = async (email: string, headers = {}) =>
    (await server.call('POST', '/api/auth/login', { email, password: GOOD }, headers)).body;
  const read = async (path: string) =>
    (await server.call('GET', `${ADMIN}${path}`, undefined, owner)).body;
  beforeAll(async () => {
    server = await startConsole({
      manifest: MANIFEST,
      routes: (router) => {
        router.post('/age', async (ctx) => {
          await ctx.db.updateTable('auth_sessions').set({ reauth_at: 1 }).execute();
        });
      },
    });
    const token = 'setup-of-the-console-0123456789abcdef';
    const boss = { token, email: 'owner@x.test', password: GOOD, first_name: 'Olga' };
    await server.call('POST', '/api/auth/setup', boss);
    for (const name of ['ada', 'bea', 'cyd', 'dan', 'eve', 'viewer', 'support']) {
      const user = {
        email: `${name}@x.test`,
        password: GOOD,
        first_name: HOSTILE,
        last_name: name,
      };
      ids[name] = (await server.call('POST', '/api/auth/register', user)).body.id;
    }
    owner = { Authorization: `Bearer ${(await login('owner@x.test')).accessToken}` };
    for (const [name, role_id] of [
      ['viewer', 4],
      ['support', 2],
    ] as const)
      await server.call('PUT', `${ADMIN}/users/${ids[name]}/role`, { role_id }, owner);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (path: string, email = 'owner@x.test', options = {}): Promise<Page> => {
    const page = await (await browser.newContext(options)).newPage();
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`${server.url}/console${path}`);
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(GOOD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('button', { name: 'Account' }).waitFor();
    return page;
  };
  const said = (page: Page, text: string) => page.getByRole('status').getByText(text).waitFor();
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).click();
  const confirm = (page: Page, name: string) =>
    page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

  it('finds users, sorts them, and shows the same when the address is opened again', async () => {
    const page = await open('/users');
    const table = page.getByRole('table', { name: 'Users' });
    await table.getByText('support@x.test').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Users');
    expect(await page.getByRole('tab').allInnerTexts()).toEqual([
      'Users',
      'Roles',
      'API keys',
      'Security events',
      'Permission log',
    ]);
    await page.getByRole('searchbox', { name: 'Search users' }).fill('b');
    await page.waitForURL(/q=b/);
    await table.getByText('ada@x.test').waitFor({ state: 'detached' });
    expect(await table.locator('tbody tr').count()).toBe(1);
    await page.getByRole('searchbox', { name: 'Search users' }).fill('');
    await page.waitForURL((url) => !url.searchParams.has('q'));
    await page.getByRole('button', { name: 'Email' }).click();
    await expect.poll(() => table.locator('tbody tr').first().innerText()).toContain('ada@x.test');
    await page.reload();
    await expect.poll(() => table.locator('tbody tr').first().innerText()).toContain('ada@x.test');
    expect(await page.locator('main img').count()).toBe(0);
    await page.context().close();
  });

  it('disables, enables, unlocks and gives a role, each after the server said so', async () => {
    for (let count = 0; count < 6; count += 1)
      await server.call('POST', '/api/auth/login', { email: 'bea@x.test', password: 'a guess' });
    const page = await open(`/users/${ids['bea']}`);
    await page.getByText('locked', { exact: true }).waitFor();
    await press(page, 'Unlock');
    await said(page, 'bea@x.test is unlocked');
    expect((await read(`/users/${ids['bea']}`)).locked_until).toBeNull();
    await press(page, 'Disable');
    const question = page.getByRole('alertdialog', { name: 'Disable' });
    await question.getByText('Ends 1 session and 0 API keys.').waitFor();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.getByLabel('Reason').fill('spam');
    await confirm(page, 'Disable');
    await said(page, 'bea@x.test is disabled');
    expect(await read(`/users/${ids['bea']}`)).toMatchObject({
      disabled: true,
      disabled_reason: 'spam',
    });
    await press(page, 'Enable');
    await said(page, 'bea@x.test is enabled');
    await page.getByRole('combobox', { name: 'Role' }).selectOption('Support');
    await said(page, 'bea@x.test has the role Support');
    expect((await read(`/users/${ids['bea']}`)).role_name).toBe('Support');
    await page.context().close();
  });

  it('lists sessions with their devices as text, ends one, and all of them', async () => {
    await login('cyd@x.test', { 'User-Agent': HOSTILE.replace('\u202e', '') });
    const page = await open(`/users/${ids['cyd']}`);
    const sessions = page.getByRole('table', { name: 'Sessions' });
    await sessions.getByText('onerror').waitFor();
    await sessions.getByRole('button').first().click();
    await confirm(page, 'End session');
    await said(page, 'Session ended');
    await expect.poll(() => sessions.locator('tbody tr').count()).toBe(1);
    await press(page, 'End all sessions');
    await page.getByText('Ends 1 session of cyd@x.test.').waitFor();
    await confirm(page, 'End all sessions');
    await page.getByText('No sessions').waitFor();
    expect((await read(`/users/${ids['cyd']}`)).sessions).toBe(0);
    await page.context().close();
  });

  it('shows a new key once, and never again', async () => {
    const page = await open('/users?tab=keys');
    await press(page, 'New API key');
    await page.getByLabel('Name').fill('nightly import');
    await page.getByLabel('Scopes').fill('posts:read, posts:write');
    await press(page, 'Create API key');
    const created = page.getByRole('dialog', { name: 'API key created' });
    const key = await created.getByRole('textbox').inputValue();
    expect(key).toMatch(/^gk_/);
    const asked = await server.call('GET', '/api/posts', undefined, { 'X-API-Key': key });
    expect(asked.status).toBe(200);
    await created.getByRole('button', { name: 'Copy' }).waitFor();
    await press(page, 'Done');
    await page.getByRole('table', { name: 'API keys' }).getByText('posts:read').waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Revoke nightly import' }).click();
    await confirm(page, 'Revoke');
    await said(page, 'API key revoked');
    const after = await server.call('GET', '/api/posts', undefined, { 'X-API-Key': key });
    expect(after.status).toBe(401);
    await page.context().close();
  });

  it('acts as a user with a token that is shown once, and for a reason that is logged', async () => {
    owner = { Authorization: `Bearer ${(await login('owner@x.test')).accessToken}` };
    const page = await open(`/users/${ids['ada']}`);
    await press(page, 'Act as user');
    await page.getByLabel('Reason').fill('ticket 7');
    await press(page, 'Make a token');
    const made = page.getByRole('dialog', { name: 'Token made' });
    const token = await made.getByLabel('Access token').inputValue();
    const as = { Authorization: `Bearer ${token}` };
    const me = await server.call('GET', '/api/auth/me', undefined, as);
    expect(me.body.email).toBe('ada@x.test');
    await press(page, 'Done');
    expect(await page.content()).not.toContain(token);
    const { entries } = (
      await server.call('GET', '/api/system/audit?action=impersonate', undefined, owner)
    ).body;
    expect(entries).toMatchObject([
      { target: `user:${ids['ada']}`, via: 'console', detail: { reason: 'ticket 7' } },
    ]);
    const own = (await read('/users?q=owner@')).users[0].id;
    await page.goto(`${server.url}/console/users/${own}`);
    await page.getByRole('button', { name: 'Delete user' }).waitFor();
    expect(await page.getByRole('button', { name: 'Act as user' }).count()).toBe(0);
    await page.context().close();
  });

  it('asks for a proof in Confirm it is you, and then repeats the call', async () => {
    const me = (await read('/users?q=owner@')).users[0].id;
    const page = await open(`/users/${me}`);
    await page.getByRole('heading', { name: 'owner@x.test' }).waitFor();
    await server.call('POST', '/age');
    problems.splice(0);
    await page.getByRole('button', { name: 'New API key' }).click();
    await page.getByLabel('Name').fill('of my own');
    await page.getByLabel('Scopes').fill('posts:read');
    await press(page, 'Create API key');
    const proof = page.getByRole('dialog', { name: 'Confirm it is you' });
    await proof.getByLabel('Password').fill('a guess');
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await proof.getByText('Invalid credentials').waitFor();
    await proof.getByLabel('Password').fill(GOOD);
    await proof.getByRole('button', { name: 'Confirm' }).click();
    await page.getByRole('dialog', { name: 'API key created' }).waitFor();
    expect((await read(`/api-keys?user_id=${me}`)).total).toBe(1);
    await press(page, 'Done');
    await server.call('POST', '/age');
    await page.getByRole('button', { name: 'Revoke of my own' }).click();
    await confirm(page, 'Revoke');
    await said(page, 'API key revoked');
    // The browser logs the 403 and the 401 itself.
    expect(problems.splice(0).every((text) => /status of 40[13]/.test(text))).toBe(true);
    await page.context().close();
    owner = { Authorization: `Bearer ${(await login('owner@x.test')).accessToken}` };
  });

  it('asks for the second factor too, where the account has one', async () => {
    await server.call('PUT', `${ADMIN}/users/${ids['eve']}/role`, { role_id: 2 }, owner);
    const page = await open('/users', 'eve@x.test');
    const asked = page.waitForRequest(/admin\/users\/\d+$/);
    await page.getByRole('link', { name: 'eve@x.test' }).click();
    const as = { Authorization: (await asked).headers()['authorization']! };
    const { secret } = (await server.call('POST', '/api/auth/totp', {}, as)).body;
    const code = (steps: number) => codeAt(secret, Date.now() + steps * 30_000);
    await server.call('POST', '/api/auth/totp/confirm', { code: code(-1) }, as);
    await server.call('POST', '/age');
    await press(page, 'Unlock');
    const proof = page.getByRole('dialog', { name: 'Confirm it is you' });
    await proof.getByLabel('Password').fill(GOOD);
    await page.keyboard.press('Enter');
    await proof.getByLabel('Code').fill('000000');
    await page.keyboard.press('Enter');
    await proof.getByText('Invalid code').waitFor();
    await proof.getByLabel('Code').fill(code(0));
    await page.keyboard.press('Enter');
    await said(page, 'eve@x.test is unlocked');
    problems.splice(0); // The browser logs the 403 and the 401 itself.
    await page.context().close();
    owner = { Authorization: `Bearer ${(await login('owner@x.test')).accessToken}` };
  });

  it('leaves an entry in the audit for each change, made via the console', async () => {
    const log = '/api/system/audit?via=console&limit=200';
    const { entries } = (await server.call('GET', log, undefined, owner)).body;
    const actions = new Set(entries.map(({ action }: { action: string }) => action));
    for (const action of [
      'disableUser',
      'enableUser',
      'unlockUser',
      'assignRole',
      'endUserSession',
      'endUserSessions',
      'createApiKey',
      'revokeApiKey',
    ])
      expect(actions).toContain(action);
    expect(JSON.stringify(entries)).not.toMatch(/gk_|correct horse/);
  });

  it('deletes a user whose address is typed, and stays when the server refuses', async () => {
    const page = await open(`/users/${ids['dan']}`);
    await press(page, 'Delete user');
    const question = page.getByRole('alertdialog', { name: 'Delete user' });
    await question.getByText('Ends 1 session and 0 API keys.').waitFor();
    const button = question.getByRole('button', { name: 'Delete user' });
    expect(await button.isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    expect((await read(`/users/${ids['dan']}`)).email).toBe('dan@x.test');
    await press(page, 'Delete user');
    await page.getByLabel('Type dan@x.test to confirm').fill('dan@x.test');
    await button.click();
    await said(page, 'dan@x.test is deleted');
    await page.waitForURL(/\/users$/);
    const me = (await read('/users?q=owner@')).users[0].id;
    await page.goto(`${server.url}/console/users/${me}`);
    await press(page, 'Delete user');
    await page.getByText('This is your own account.').waitFor();
    await page.getByLabel('Type owner@x.test to confirm').fill('owner@x.test');
    await confirm(page, 'Delete user');
    await page.getByRole('alert').getByText('Cannot remove the last owner').waitFor();
    expect((await read(`/users/${me}`)).email).toBe('owner@x.test');
    problems.splice(0); // The browser logs the 409 itself.
    await page.context().close();
  });

  it('has no control that the caller may not use', async () => {
    const controls = async (page: Page) =>
      (await page.locator('main').getByRole('button').allInnerTexts()).filter(
        (text) => !/page$|^(Email|Users|Last sign-in|Created|Last used|Name)\W*$/.test(text),
      );
    const viewer = await open(`/users/${ids['ada']}`, 'viewer@x.test');
    await viewer.getByRole('table', { name: 'Sessions' }).waitFor();
    expect(await viewer.getByRole('combobox', { name: 'Role' }).count()).toBe(0);
    expect(await controls(viewer)).toEqual([]);
    for (const tab of ['Users', 'Roles', 'API keys', 'Security events', 'Permission log']) {
      await viewer.goto(`${server.url}/console/users`);
      await viewer.getByRole('tab', { name: tab }).click();
      await viewer.getByRole('table', { name: tab }).waitFor();
      expect([tab, await controls(viewer)]).toEqual([tab, []]);
    }
    await viewer.context().close();
    // Support manages accounts, but not those of people who hold more.
    const support = await open(`/users/${ids['ada']}`, 'support@x.test');
    await support.getByRole('button', { name: 'Delete user' }).waitFor();
    const roles = support.getByRole('combobox', { name: 'Role' }).locator('option');
    await expect.poll(() => roles.allInnerTexts()).toEqual(['none', 'Support', 'Member']);
    await support.goto(`${server.url}/console/users/1`);
    await support.getByRole('table', { name: 'Sessions' }).waitFor();
    expect(await controls(support)).toEqual([]);
    await support.context().close();
  });

  it.each(['light', 'dark'] as const)(
    'has nothing that axe finds in %s, and fits 375 px',
    { timeout: 60_000 },
    async (colorScheme) => {
      const options = { colorScheme, bypassCSP: true, viewport: { width: 375, height: 800 } };
      const page = await open('/users', 'owner@x.test', options);
      const states = ['', '?q=nobody', '?tab=roles', '?tab=keys', '?tab=log', '/2', '/999'];
      for (const path of colorScheme === 'light' ? states : ['?tab=roles', '/2']) {
        await page.goto(`${server.url}/console/users${path}`);
        await page.locator('main table, main .empty, main .failure').first().waitFor();
        if (path === '/2') await page.getByRole('table', { name: 'Sessions' }).waitFor();
        await page.evaluate(axe);
        const found = await page.evaluate(
          `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes[0].html))`,
        );
        expect([path, found]).toEqual([path, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          375,
        );
      }
      problems.splice(0); // The browser logs the 404 itself.
      await page.context().close();
    },
  );

  it('reports no violation of the policy and no error', () => {
    expect(problems).toEqual([]);
  });
});
