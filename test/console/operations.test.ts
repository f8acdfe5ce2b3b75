import { readFile } from 'node:fs/promises';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { measureLogs } from './log-figures.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

/** The whole of acceptance 8 is 100,000 lines on a machine that does nothing else: `LOG_LINES=100000`. */
const LINES = Number(process.env['LOG_LINES'] ?? 10_000);
/** By how much a task of the page may take longer while other test files run on the same cores. */
const BUSY = process.env['LOG_LINES'] === undefined ? 4 : 1;
const HOSTILE = '<img src=x onerror="document.title=1"> \u202e javascript:alert(1)';

describeWith('chromium', 'the pages about the server itself', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let page: Page;
  let as: Record<string, string>;
  const problems: string[] = [];
  const log = () => page.getByRole('log', { name: 'Log lines' });
  const open = async (path: string) => {
    await page.goto(`${server.url}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  beforeAll(async () => {
    server = await startConsole();
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    as = { Authorization: `Bearer ${body.token}` };
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await browser.newPage();
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    page.on('pageerror', (error) => void problems.push(String(error)));
    await page.goto(`${server.url}/console/`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview', exact: true }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('show health, requests, errors and latency, as images with their last figures and as tables', async () => {
    for (let count = 0; count < 20; count += 1) await server.call('GET', '/api/posts');
    for (const name of ['Health', 'Requests', 'Errors', 'Latency'])
      await page.getByRole('region', { name, exact: true }).waitFor();
    const requests = page.getByRole('region', { name: 'Requests', exact: true });
    await requests.getByRole('img', { name: /^Requests: .*\d \/s$/ }).waitFor();
    await requests.locator('canvas').waitFor();
    await page.getByRole('img', { name: /^Latency: p50 .* ms, p95 .* ms, p99 .* m?s$/ }).waitFor();
    await requests.getByRole('button', { name: 'Show as table' }).click();
    const rows = requests.getByRole('table', { name: 'Requests' }).getByRole('row');
    expect(await rows.nth(1).textContent()).toMatch(/^\d\d:\d\d:\d0[\d.,]+ \/s$/);
    await page.getByRole('combobox', { name: 'Range' }).selectOption({ label: '24 hours' });
    expect(page.url()).toContain('range=24h');
    await page.reload();
    expect(await page.getByRole('combobox', { name: 'Range' }).inputValue()).toBe('24h');
    server.log.error('the mail server refused');
    await page.reload();
    await page.getByRole('link', { name: 'the mail server refused' }).click();
    await page.getByRole('heading', { name: 'Logs', exact: true }).waitFor();
    expect(page.url()).toContain('level=error');
    await log().getByText('the mail server refused').waitFor();
    expect(await log().getByText('listening').count()).toBe(0);
  });

  it('show lines as they come: text as text, ANSI as colours, carriage returns kept', async () => {
    await open('/logs');
    expect(await log().getAttribute('aria-live')).toBe('off');
    server.log.info(`${HOSTILE} \x1b[1;31mred\x1b[0m 10%\r20%`);
    const line = log().locator('.log-row', { hasText: 'javascript:alert(1)' });
    await line.waitFor();
    expect(await line.locator('.log-text').textContent()).toBe(`${HOSTILE} red 10%\r20%`);
    expect(await line.locator('.ansi-red.ansi-bold').textContent()).toBe('red');
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toBe('Logs · shop');
  });

  it('show the end of a progress bar in its row, and all of it in the line that is opened', async () => {
    const steps = Array.from({ length: 300 }, (_, at) => `\x1b[32m${at + 1} %\x1b[0m of the file`);
    const text = steps
      .map((step) => step.replace('\x1b[32m', '').replace('\x1b[0m', ''))
      .join('\r');
    server.log.info(steps.join('\r'));
    const row = log().locator('.log-row', { hasText: '300 % of the file' });
    await row.click();
    expect(await row.locator('span').count()).toBeLessThan(30);
    expect(text).toContain((await row.locator('.log-text').textContent())!.replace('…', ''));
    const opened = page.getByRole('region', { name: 'Line', exact: true }).locator('pre');
    expect(await opened.textContent()).toBe(text);
    expect(await opened.locator('.ansi-green').count()).toBe(300);
    expect(await opened.locator('.log-return').count()).toBe(299);
    await page.getByRole('button', { name: 'Close', exact: true }).click();
  });

  it('open a line, by keyboard too, with its fields and its stack', async () => {
    const requestId = '01JTEST';
    server.log.error({ err: new Error('deep inside'), requestId, tries: 3 }, 'the last line');
    await log().getByText('the last line').waitFor();
    await log().focus();
    await page.keyboard.press('Enter');
    const opened = page.getByRole('region', { name: 'Line', exact: true });
    await opened.getByText(/Error: deep inside\n\s+at /).waitFor();
    await opened.getByText(requestId).waitFor();
    const time = (await opened.locator('time').textContent())!;
    expect(time).toMatch(/^\d{1,2} [A-Z]\w{2,3} 20\d\d \d\d:\d\d:\d\d\.\d{3}$/);
    const row = log().locator('.log-row', { hasText: 'the last line' });
    expect(await row.locator('time').textContent()).toBe(time.slice(-12));
    await page.keyboard.press('Escape');
    await opened.waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Search logs' }).fill(requestId);
    await expect.poll(() => log().locator('.log-row').count()).toBe(1);
    expect(page.url()).toContain(`q=${requestId}`);
    await page.getByRole('searchbox', { name: 'Search logs' }).fill('');
  });

  it('say why no lines come while the server fails, and go on by themselves', async () => {
    const logs = '**/api/system/logs?**';
    await page.route(logs, (route) =>
      route.fulfill({ status: 500, json: { error: 'out of order' } }),
    );
    await open('/logs');
    await page.getByRole('alert').getByText('out of order').waitFor();
    expect(await log().getByText('No lines yet').count()).toBe(0);
    await page.unroute(logs);
    await page.getByText('Live', { exact: true }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    for (const problem of problems.splice(0)) expect(problem).toContain('status of 500');
  });

  it('pause, resume, clear and download', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    server.log.info('while it was paused');
    await page.getByRole('status').getByText('1 waiting').waitFor();
    expect(await log().getByText('while it was paused').count()).toBe(0);
    await page.getByRole('button', { name: 'Resume' }).click();
    await log().getByText('while it was paused').waitFor();
    const begun = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const text = await readFile(await (await begun).path(), 'utf8');
    expect(text.split('\n').at(-2)).toMatch(/^\S+Z info {2}while it was paused$/);
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('status').getByText('0 lines').waitFor();
    await log().getByText('No lines yet').waitFor();
  });

  it(`stay quick while ${LINES} lines come at 5,000 a second (acceptance 8)`, async () => {
    const write = (number: number) =>
      server.log.info({ user: number % 97, ms: 12.5 }, `line ${number} of a busy server`);
    const figures = await measureLogs(page, { lines: LINES, rate: 5000, write });
    await page
      .getByRole('status')
      .getByText(/^\d+,\d{3} lines/)
      .waitFor();
    expect(figures.longestTask).toBeLessThanOrEqual(100 * BUSY);
    expect(figures.elements).toBeLessThanOrEqual(2000);
    expect(figures.heap).toBeLessThanOrEqual(150e6);
    expect(figures.search).toBeLessThanOrEqual(200 * BUSY);
  });

  it('list every setting with its source, and of secrets only whether they are set', async () => {
    await open('/settings');
    const row = (name: string) =>
      page.getByRole('table', { name: 'Settings' }).getByRole('row', { name }).first().innerText();
    await expect.poll(() => row('JWT_SECRET set')).toMatch(/^JWT_SECRET\s+set\s+environment$/);
    expect(await row('JWT_SECRET_PREVIOUS')).toMatch(/\s+not set\s+default$/);
    expect(await row('name shop')).toMatch(/^name\s+shop\s+manifest$/);
    await page.getByRole('searchbox', { name: 'Search settings' }).fill('console.path');
    await expect.poll(() => page.getByRole('row').count()).toBe(2);
  });

  const followers = async () =>
    (await server.call('GET', '/api/system/info', undefined, as)).body.log_followers;
  /** Chromium without a window shows each page, so the test says that another tab is in front. */
  const setHidden = (hidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    `);

  it('give the connection of a tab that is not seen back, and have every line when it is seen', async () => {
    await open('/logs');
    await expect.poll(followers).toBe(1);
    await setHidden(true);
    await expect.poll(followers).toBe(0);
    server.log.info('while another tab was in front');
    await setHidden(false);
    await log().getByText('while another tab was in front').waitFor();
    expect(await log().getByText('while another tab was in front').count()).toBe(1);
    expect(await followers()).toBe(1);
  });

  it('let go of the log within a second of closing the tab, and failed nowhere', async () => {
    await open('/logs');
    await expect.poll(followers).toBe(1);
    await page.close();
    await expect.poll(followers, { timeout: 1000, interval: 50 }).toBe(0);
    expect(problems).toEqual([]);
  });
});
