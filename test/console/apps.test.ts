import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeEachEngine } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { tarGzOf } from '../hosting/archives.ts';
import { CONTRAST, violations } from './axe.ts';
import { type HostingConsole, startHostingConsole } from './hosting-server.ts';
import { OPERATOR } from './server.ts';

const HOSTILE = `<img src=x onerror="document.title='ran'"><script>document.title='ran'</script>`;
const SECRET = 'hunter2-of-the-shop';
const TABS = [
  'Overview',
  'Deployments',
  'Logs',
  'Environment',
  'Domains',
  'Volumes',
  'Backups',
  'Runs',
  'Scale',
  'Terminal',
];

describeEachEngine('the page Apps', ({ kind, socket }) => {
  let server: HostingConsole;
  let browser: Browser;
  let page: Page;
  let web: string;
  let next: string;
  const problems: string[] = [];

  beforeAll(async () => {
    web = await importImage(socket, 'twofold-test/web:1');
    next = await importImage(socket, 'twofold-test/web:2');
    server = await startHostingConsole(socket);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await open('/apps');
  });
  afterAll(async () => {
    await browser?.close();
    await server?.end();
  });

  /** Signs the operator in, and notes all that should not be. */
  async function open(path: string, options = {}): Promise<Page> {
    const made = await (await browser.newContext(options)).newPage();
    made.setDefaultTimeout(15_000);
    const note = (text: string) => void problems.push(text);
    made.on('request', (each) => {
      if (!each.url().startsWith(server.url) && !/^(data|blob):/.test(each.url())) note(each.url());
    });
    made.on('console', (each) => void (each.type() === 'error' && note(each.text())));
    made.on('pageerror', (error) => note(String(error)));
    await made.goto(`${server.url}/console${path}`);
    await made.getByRole('radio', { name: 'Operator' }).check();
    await made.getByLabel('Password').fill(OPERATOR);
    await made.getByRole('button', { name: 'Sign in' }).click();
    await made.locator('h1').filter({ hasNotText: 'Sign in' }).waitFor();
    return made;
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
  const dialog = (name: string) => page.getByRole('dialog', { name });
  const summary = (text: string) => page.locator('.app-summary').getByText(text, { exact: true });

  it('makes an app of an image, and shows it with what it uses', async () => {
    await page.getByText('No apps yet').waitFor();
    await button('New app').first().click();
    const form = dialog('New app');
    expect(await form.getByRole('tab').allTextContents()).toEqual([
      ...['Image', 'Git', 'Archive', 'Template'],
    ]);
    await form.getByLabel('Name', { exact: true }).fill('shop');
    await form.getByRole('textbox', { name: 'Image' }).fill('twofold-test/none:1');
    await form.getByRole('button', { name: 'Create app' }).click();
    await form.getByRole('alert').waitFor();
    await form.getByRole('textbox', { name: 'Image' }).fill(web);
    await form.getByLabel('Env', { exact: true }).fill(`WORDS=${HOSTILE}`);
    await form.getByRole('button', { name: 'Create app' }).click();
    await page.getByRole('heading', { level: 1, name: 'shop' }).waitFor();
    await summary('running').waitFor();
    expect(await page.title()).toBe('shop · shop');
    await page.getByRole('link', { name: 'All apps' }).click();
    const row = page.getByRole('table', { name: 'Apps' }).getByRole('row', { name: /shop/ });
    await row.getByText(/ [kM]B$/).waitFor();
    await row.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByRole('img', { name: /^Memory of 128 MB: used .* [kM]B/ }).waitFor();
    problems.splice(0); // The browser logs the 422 itself.
  });

  it('seals a secret, which is shown nowhere again', async () => {
    await tab('Environment');
    await page.getByText(HOSTILE).waitFor();
    await button('Set secret').click();
    const form = dialog('Set secret');
    await form.getByRole('textbox', { name: 'Key' }).fill('TOKEN');
    await form.getByLabel('Value', { exact: true }).fill(SECRET);
    await form.getByRole('button', { name: 'Save secret' }).click();
    const table = page.getByRole('table', { name: 'Environment' });
    await table.getByRole('row', { name: /TOKEN/ }).getByText('secret', { exact: true }).waitFor();
    await button('Show as curl').click();
    const commands = await dialog('As curl').locator('pre').innerText();
    expect(commands).toContain(`-X PUT '${server.url}/api/apps/shop/secrets/TOKEN'`);
    expect(commands).toContain('"$VALUE"');
    await page.keyboard.press('Escape');
    const { body } = await server.call(
      'GET',
      '/api/system/audit?limit=200',
      undefined,
      server.operator,
    );
    const put = body.entries.find(({ action }: { action: string }) => action === 'putSecret');
    expect(put).toMatchObject({ via: 'console', target: 'shop' });
    expect(JSON.stringify(body) + commands + (await page.content())).not.toContain(SECRET);
  });

  it('deploys another image, says why a deploy failed with its build log, and rolls back', async () => {
    await button('Deploy').click();
    await dialog('Deploy shop').getByRole('textbox', { name: 'Image' }).fill(next);
    await dialog('Deploy shop').getByRole('button', { name: 'Deploy' }).click();
    await summary('Deployment 2').waitFor();
    await page.getByRole('table', { name: 'Deployments' }).getByText('#2').waitFor();

    const archive = tarGzOf({
      Dockerfile: `FROM ${web}\nRUN echo '${HOSTILE.replaceAll("'", '')}' && exit 3\n`,
    });
    await button('Deploy').click();
    const form = dialog('Deploy shop');
    await form.getByRole('tab', { name: 'Archive' }).click();
    const source = { name: 'shop.tar.gz', mimeType: 'application/gzip', buffer: archive };
    await form.locator('input[type=file]').setInputFiles(source);
    await form.getByRole('button', { name: 'Deploy' }).click();
    const told = page.getByRole('alert').filter({ hasText: 'Deployment 3 failed' });
    await told.getByText('Deployment 2 goes on serving.').waitFor();
    await told.getByRole('link', { name: 'read the build log' }).click();
    const region = page.getByRole('region', { name: 'Deployment 3' });
    await region.getByRole('log', { name: 'Build log' }).getByText('onerror=').first().waitFor();
    await region.getByRole('list', { name: 'Steps' }).getByText('failed').waitFor();

    await button('Roll back').click();
    await dialog('Roll back').getByRole('combobox', { name: 'Deployment' }).selectOption('1');
    await dialog('Roll back').getByRole('button', { name: 'Roll back' }).click();
    await summary('Deployment 4').waitFor();
    await told.waitFor({ state: 'detached' });
    expect(
      (await server.call('GET', '/api/apps/shop', undefined, server.operator)).body.image,
    ).toBe(web);
  });

  it('scales, and opens a terminal in a replica', async () => {
    await tab('Scale');
    await page.getByRole('spinbutton', { name: 'Replicas' }).fill('2');
    await button('Scale').click();
    await page.getByRole('table', { name: 'Replicas' }).getByRole('row').nth(2).waitFor();
    await tab('Terminal');
    await page.getByRole('combobox', { name: 'Replica' }).selectOption('1');
    await button('Open terminal').click();
    await page.getByRole('status').getByText('Connected').waitFor();
    const shown = page.locator('.xterm-rows');
    await shown.getByText('#').first().waitFor();
    await page.keyboard.type('echo "[$TOKEN]"; printf "\\033[38;2;9;99;199m$WORDS\\033[0m\\n"');
    await page.keyboard.press('Enter');
    await shown.getByText(`[${SECRET}]`).waitFor();
    await shown.getByText('onerror').first().waitFor();
    await page.keyboard.type('echo "$WORDS" >/proc/1/fd/1\n');
    await page.keyboard.type('printf "read 10\\r read 20\\n" >/proc/1/fd/1\n');
    await page.keyboard.press('Shift+Escape');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Close terminal');
    await page.locator('.xterm-helper-textarea').focus();
    await page.keyboard.type('exit 5\n');
    await page.getByRole('status').getByText('The command ended with 5').waitFor();
  });

  it('follows the output, stops, starts, and deletes by the name', async () => {
    await tab('Logs');
    const log = page.getByRole('log', { name: 'Log lines' });
    await log.getByText('version 1 listens').first().waitFor();
    await log.getByText('onerror=').first().waitFor();
    const search = page.getByRole('searchbox', { name: 'Search logs' });
    await search.fill('read 10');
    const row = log.locator('.log-text');
    await expect.poll(() => row.allTextContents()).toEqual(['read 10\r read 20']);
    expect(new URL(page.url()).searchParams.get('q')).toBe('read 10');
    await page.reload();
    await expect.poll(() => row.allTextContents()).toEqual(['read 10\r read 20']);
    expect(await search.inputValue()).toBe('read 10');
    await search.fill('');
    await button('Stop').click();
    const asked = page.getByRole('alertdialog', { name: 'Stop' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await asked.getByRole('button', { name: 'Stop' }).click();
    await summary('stopped').waitFor();
    await button('Start').click();
    await summary('running').waitFor();
    await button('Delete app').click();
    const lost = page.getByRole('alertdialog', { name: 'Delete app' });
    expect(await lost.getByRole('button', { name: 'Delete app' }).isDisabled()).toBe(true);
    await lost.getByLabel('Type shop to confirm').fill('shop');
    await lost.getByRole('button', { name: 'Delete app' }).click();
    await page.getByText('No apps yet').waitFor();
    expect((await server.call('GET', '/api/apps', undefined, server.operator)).body.total).toBe(0);
  });

  it('asked no other origin, broke no policy, ran nothing from outside and failed nowhere', async () => {
    expect(problems).toEqual([]);
    expect(await page.title()).toBe('Apps · shop');
    expect(await page.locator('main img, main script').count()).toBe(0);
  });

  // What is drawn does not depend on the engine.
  if (kind === 'docker')
    it('has nothing that axe finds on any tab, and fits 320 px', async () => {
      const volumes = [{ name: 'data', path: '/data' }];
      const app = { name: 'keeper', image: web, volumes };
      await server.call('POST', '/api/apps', app, server.operator);
      const cron = [{ name: 'nightly', schedule: '0 3 * * *', command: ['true'] }];
      await server.call('PATCH', '/api/apps/keeper', { cron }, server.operator);
      const viewport = { width: 320, height: 640 };
      const options = { bypassCSP: true, reducedMotion: 'reduce', viewport };
      const narrow = await open('/apps/keeper', options);
      for (const name of TABS) {
        await narrow.getByRole('tab', { name, exact: true }).click();
        if (name === 'Terminal') {
          await narrow.getByRole('button', { name: 'Open terminal' }).click();
          await narrow.locator('.xterm-rows').getByText('#').first().waitFor();
        }
        await narrow.emulateMedia({ colorScheme: 'light' });
        const light = await violations(narrow);
        await narrow.emulateMedia({ colorScheme: 'dark' });
        const dark = await violations(narrow, CONTRAST);
        expect([name, light, dark]).toEqual([name, [], []]);
        const width = await narrow.evaluate('document.documentElement.scrollWidth');
        expect([name, width]).toEqual([name, 320]);
      }
      await narrow.context().close();
    });
});
