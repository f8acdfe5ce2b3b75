import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startReceiver } from '../auth/receiver.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, GOOD, OPERATOR, startConsole } from './server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeWith('chromium', 'the page Webhooks', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let page: Page;
  let receiver: Awaited<ReturnType<typeof startReceiver>>;
  let answer = 204;
  const problems: string[] = [];
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const table = (name: string) => page.getByRole('table', { name, exact: true });
  const status = (text: string | RegExp) =>
    page.getByRole('status').getByText(text).first().waitFor();
  const register = (email: string) =>
    server.call('POST', '/api/auth/register', { email, password: GOOD });

  beforeAll(async () => {
    receiver = await startReceiver(() => answer);
    server = await startConsole();
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`${server.url}/console/webhooks`, { timeout: 45_000 });
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await button('Sign in').click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await receiver?.close();
  });

  it('has none at first; a new one is refused with the server’s words, or made with a secret shown once', async () => {
    await page.getByText('No webhooks yet').waitFor();
    await expect.poll(() => page.title()).toBe('Webhooks · shop');
    await button('New webhook').first().click();
    const dialog = page.getByRole('dialog', { name: 'New webhook' });
    await dialog.getByLabel('URL').fill('http://hooks.test/x');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/url must be https/)
      .waitFor();
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Events').fill('user.registered, auth.*');
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    const shown = page.getByRole('dialog', { name: 'Webhook secret' });
    const secret = await shown.getByLabel('Secret').inputValue();
    await shown.getByRole('button', { name: 'Done' }).click();
    await table('Webhooks').getByText('user.registered, auth.*').waitFor();
    expect(await page.locator('body').innerText()).not.toContain('whsec_');
    await register('ada@x.test');
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(0);
    const { body, headers } = receiver.deliveries[0]!;
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
    problems.splice(0); // The browser logs the 400 itself.
  });

  it('lists what was sent, filters it, and sends it again', async () => {
    const row = table('Deliveries').getByRole('row').filter({ hasText: 'user.registered' });
    await row.getByText('delivered').waitFor();
    answer = 500;
    await register('bob@x.test');
    await page.getByRole('combobox', { name: 'Status' }).selectOption('pending');
    await table('Deliveries').getByText('500').first().waitFor();
    expect(page.url()).toContain('status=pending');
    answer = 204;
    await page.getByRole('combobox', { name: 'Status' }).selectOption('');
    const before = receiver.deliveries.length;
    await row.last().getByRole('button', { name: 'Redeliver' }).click();
    await status('The event is sent again');
    await expect.poll(() => receiver.deliveries.length).toBeGreaterThan(before);
  });

  it('sends a test event, and says what came back', async () => {
    await button('Send test event').click();
    await status('The receiver answered 204');
    answer = 418;
    await button('Send test event').click();
    await page.getByRole('alert').getByText('The receiver refused the event: 418').waitFor();
    answer = 204;
  });

  it('is edited, disabled, enabled, and gets another secret', async () => {
    await button('Edit').click();
    const edit = page.getByRole('dialog', { name: 'Edit webhook' });
    await edit.getByLabel('Events').fill('*');
    await edit.getByRole('button', { name: 'Save' }).click();
    await table('Webhooks').getByRole('cell', { name: '*', exact: true }).waitFor();
    await button('Disable').click();
    await table('Webhooks').getByText('disabled').waitFor();
    expect(await button('Redeliver').count()).toBe(0);
    await button('Enable').click();
    await table('Webhooks').getByText('enabled').waitFor();
    await button('Rotate secret').click();
    const rotate = page.getByRole('dialog', { name: 'Rotate secret' });
    await rotate.getByLabel('Overlap').fill('1h');
    await rotate.getByRole('button', { name: 'Rotate secret' }).click();
    const rotated = page.getByRole('dialog', { name: 'Webhook secret' }).getByLabel('Secret');
    expect(await rotated.inputValue()).toMatch(/^whsec_/);
    await page.keyboard.press('Escape');
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'has no finding of axe, nor scrolls sideways: %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await page.reload();
      await table('Deliveries').getByText('user.registered').first().waitFor();
      await page.evaluate(axe);
      const found = await page.evaluate(
        `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' | ')))`,
      );
      expect(found).toEqual([]);
      for (const width of [320, 375, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        expect([
          width,
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        ]).toEqual([width, true]);
      }
    },
  );

  it('is deleted only after a question, and every change stands in the audit, without a secret', async () => {
    await button('Delete webhook').click();
    const asked = page.getByRole('alertdialog', { name: 'Delete webhook' });
    await asked.getByText(receiver.url).waitFor();
    await page.keyboard.press('Escape');
    await table('Webhooks').getByText(receiver.url).first().waitFor();
    await button('Delete webhook').click();
    await asked.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
    const { body } = await server.call('POST', '/api/auth/login', {
      password: OPERATOR,
      client: 'console',
      delivery: 'cookie',
    });
    const as = { Authorization: `Bearer ${body.accessToken}` };
    const audit = await server.call('GET', '/api/system/audit?target=webhook:*', undefined, as);
    const actions = audit.body.entries.map(
      ({ action, via }: { action: string; via: string }) => `${action} ${via}`,
    );
    expect(new Set(actions)).toEqual(
      new Set(
        [
          'createWebhook',
          'redeliverWebhook',
          'testWebhook',
          'updateWebhook',
          'rotateWebhook',
          'deleteWebhook',
        ].map((action) => `${action} console`),
      ),
    );
    expect(JSON.stringify(audit.body)).not.toContain('whsec_');
  });
});
