import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { auth } from '@twofold/auth';
import { webConsole } from '@twofold/console/server';
import { chromium, describeWith } from '../engines/available.ts';
import { type JobServer, newDatabase, type Place, startJobs } from '../jobs/server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const KEY = 'root-key-of-the-tests-0123456789';
const OPERATOR = 'the operator knows this';
const HOSTILE = '<img src=x onerror="document.title=1">\u001b[31m\r"\'; javascript:alert(1)';
const SDL = `
  type Note @auth(allow: [PUBLIC]) { id: ID! text: String! }
  type Query { notes: [Note!]! }
`;
const env = {
  JWT_SECRET: 'a secret of the tests that is long enough',
  API_KEY: KEY,
  HOST_PASSWORD: OPERATOR,
  RATE_LIMIT_ENABLED: 'false',
};
const broken = {
  attempts: 1,
  run: () => {
    throw new Error(HOSTILE);
  },
};

describeWith('chromium', 'the pages Audit and Jobs', () => {
  let place: Place;
  let server: JobServer;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const call = async (method: string, path: string, body?: unknown) => {
    const headers = { 'X-API-Key': KEY, 'Content-Type': 'application/json' };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(server.url + path, { method, headers, ...sent });
    return JSON.parse(await answer.text());
  };
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
  const go = (path: string) => page.goto(`${server.url}/console${path}`);
  const table = (name: string) => page.getByRole('table', { name });

  beforeAll(async () => {
    place = await newDatabase('sqlite');
    // Without \`auth\` in the manifest: the operator alone.
    server = await startJobs({
      jobs: { letter: { run: () => {} }, broken, yearly: { schedule: '0 8 1 1 *', run: () => {} } },
      url: place.url,
      env,
      sdl: SDL,
      manifest: 'name: shop\nconsole: {}\n',
      capabilities: [auth(), webConsole()],
    });
    await call('POST', '/api/system/jobs', { name: 'broken', data: { to: HOSTILE } });
    await call('POST', '/api/system/jobs', { name: 'letter', at: inAnHour() });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext({ bypassCSP: true })).newPage();
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    page.on('pageerror', (error) => problems.push(String(error)));
    await go('/jobs');
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Jobs' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await place?.drop();
  });
  const expectNothingOfAxe = async () => {
    await page.evaluate(axe);
    const { violations } = (await page.evaluate(
      "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
    )) as { violations: { id: string; nodes: { html: string }[] }[] };
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
  };

  it('list jobs by state, show what one was given and why it failed, and begin it anew', async () => {
    expect(await page.title()).toBe('Jobs · shop');
    await page.getByRole('tab', { name: 'Failed' }).click();
    expect(page.url()).toContain('tab=failed');
    await table('Jobs').getByRole('link', { name: '1', exact: true }).click();
    const region = page.getByRole('region', { name: 'Job 1', exact: true });
    await region.getByText('document.title=1').first().waitFor();
    expect(await region.locator('img').count()).toBe(0);
    await page.reload();
    await region.getByText('Attempt 1').waitFor();
    await expectNothingOfAxe();
    await table('Jobs').getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('status').getByText('Job 1 waits again').waitFor();
    await expect
      .poll(async () => (await call('GET', '/api/system/jobs/1')).state, { timeout: 5000 })
      .toBe('failed');
  });

  it('show what a schedule sends, and when next', async () => {
    await go('/jobs');
    await page.getByRole('tab', { name: 'Schedules' }).click();
    const row = table('Schedules').getByRole('row', { name: 'yearly 0 8 1 1 * UTC' });
    const next = await row.getByRole('time').getAttribute('datetime');
    expect(next).toBe(`${new Date().getUTCFullYear() + 1}-01-01T08:00:00.000Z`);
    await expectNothingOfAxe();
  });

  it('ask before a job is cancelled, and Escape means no', async () => {
    await go('/jobs');
    const row = table('Jobs').getByRole('row').nth(1);
    await row.getByRole('button', { name: 'Cancel job' }).click();
    const question = page.getByRole('alertdialog', { name: 'Cancel job' });
    await question.getByText('Job 2 (letter) will not run.').waitFor();
    await page.keyboard.press('Escape');
    expect((await call('GET', '/api/system/jobs/2')).state).toBe('waiting');
    await row.getByRole('button', { name: 'Cancel job' }).click();
    await question.getByRole('button', { name: 'Cancel job' }).click();
    await page.getByText('No waiting jobs').waitFor();
    await page.getByRole('tab', { name: 'Cancelled' }).click();
    await table('Jobs').getByRole('link', { name: '2', exact: true }).waitFor();
  });

  it('every change made through the pages stands in the audit with via console', async () => {
    const { entries } = await call('GET', '/api/system/audit?via=console');
    expect(
      entries.map(({ actor, action, target }: Record<string, string>) => [actor, action, target]),
    ).toEqual([
      ['host', 'cancelJob', 'job:2'],
      ['host', 'retryJob', 'job:1'],
    ]);
    expect(JSON.stringify(entries)).not.toContain('onerror');
    await page.getByRole('link', { name: 'Audit' }).click();
    await table('Audit')
      .getByRole('row', { name: /cancelJob/ })
      .getByText('console')
      .waitFor();
    expect(await page.title()).toBe('Audit · shop');
    await expectNothingOfAxe();
  });

  it('filter the audit by what the address says, and page through it', async () => {
    const { store } = server.kernel;
    const context = { principal: { kind: 'api_key', id: 'k1', scopes: [] }, ip: '::1', id: 'r' };
    for (let index = 0; index < 60; index += 1)
      await server.kernel.audit!.record(context as never, {
        action: 'disableUser',
        target: `user:${index}`,
        detail: { reason: HOSTILE },
      });
    await go('/audit');
    await page.getByLabel('Actor').fill('key:*');
    await expect.poll(() => page.url()).toContain('actor=key');
    await page.getByLabel('Target').fill('user:7');
    await expect.poll(() => table('Audit').getByRole('row').count()).toBe(2);
    await table('Audit').locator('summary').click();
    await table('Audit').locator('pre').getByText('onerror').waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    await page.reload();
    await expect.poll(() => table('Audit').getByRole('row').count()).toBe(2);
    await page.getByLabel('Target').fill('nothing');
    await page.getByText('No entries match').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await table('Audit').getByText('user:59', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await table('Audit')
      .getByRole('row', { name: /cancelJob/ })
      .waitFor();
    await page.goBack();
    await table('Audit').getByText('user:59', { exact: true }).waitFor();
    await store.db.deleteFrom('twofold_audit').execute();
  });

  it('say what is missing where there is nothing, and what failed', async () => {
    await go('/audit');
    await page.getByText('No changes yet').waitFor();
    await page.route('**/api/system/audit*', (route) =>
      route.fulfill({ status: 500, json: { error: 'Internal server error' } }),
    );
    await page.reload();
    await page.getByRole('alert').getByText('Internal server error').waitFor();
    await page.unroute('**/api/system/audit*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No changes yet').waitFor();
    problems.splice(0); // The browser logs the 500 itself.
  });

  it('have nothing that axe finds in the dark, fit 320 px, and have each text in the catalogue', async () => {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 320, height: 700 });
    for (const path of ['/jobs?tab=failed&job=1', '/audit']) {
      await go(`${path}${path.includes('?') ? '&' : '?'}locale=en-XA`);
      await page.getByRole('heading', { level: 1 }).getByText('⟦').waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      await expectNothingOfAxe();
      const plain = (await page.evaluate(`[...document.querySelectorAll(
        'main h1, main h2, main h3, main button, main label, main th, main p, main dt'
      )].map((each) => each.textContent.trim()).filter((text) => text !== '' && !text.includes('⟦'))`)) as string[];
      expect(plain.filter((text) => !/onerror|^shop$/.test(text))).toEqual([]);
    }
    expect(problems).toEqual([]);
  });
});
