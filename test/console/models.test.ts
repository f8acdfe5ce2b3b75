import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { describeLlama } from '../models/available.ts';
import { startHub, type TestHub } from '../models/hub.ts';
import { tinyModel } from '../models/tiny-gguf.ts';
import { type HostingConsole, hostingManifest, startHostingConsole } from './hosting-server.ts';
import { OPERATOR } from './server.ts';

const ID = 'tests/tiny-GGUF';
const NAME = `<b onclick="document.title='ran'">Tiny</b> javascript:alert(1)`;

describeWith('chromium', 'the page Models', () => {
  describeLlama('with a model that runs here', () => {
    let hub: TestHub;
    let server: HostingConsole;
    let browser: Browser;
    let page: Page;
    const problems: string[] = [];
    beforeAll(async () => {
      hub = await startHub({ [ID]: { files: { 'tiny.gguf': tinyModel({ seed: 1 }) } } });
      const model = JSON.stringify({ id: ID, name: NAME });
      const models = `  models: { engine: llamacpp, list: [${model}] }`;
      const socket = process.env['TEST_DOCKER_SOCKET'] ?? '';
      server = await startHostingConsole(socket, {
        manifest: hostingManifest(socket, models),
        env: { HF_ENDPOINT: hub.url, PATH: process.env['PATH'] ?? '' },
      });
      browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
      page = await browser.newPage();
      page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
      page.on('pageerror', (error) => void problems.push(String(error)));
      await page.goto(`${server.url}/console/models?q=tiny`);
      await page.getByRole('radio', { name: 'Operator' }).check();
      await page.getByLabel('Password').fill(OPERATOR);
      await page.getByRole('button', { name: 'Sign in' }).click();
    });
    afterAll(async () => {
      await browser?.close();
      await server?.end();
      await hub?.close();
    });
    const button = (name: string) => page.getByRole('button', { name, exact: true });

    it('downloads, shows how far it is, cancels and goes on', async () => {
      await page.getByRole('table', { name: 'Models' }).getByText(NAME).waitFor();
      hub.behaviour.speed = 20_000;
      await button(`Download ${ID}`).click();
      await page.getByRole('status').getByText(`The download of ${ID} has begun`).waitFor();
      const progress = page.getByRole('progressbar', { name: `Download of ${ID}` });
      await progress.waitFor();
      await button(`Cancel ${ID}`).click();
      const asked = page.getByRole('alertdialog', { name: 'Cancel download' });
      await asked.getByText(`The download of ${ID} ends`).waitFor();
      await page.keyboard.press('Escape');
      await asked.waitFor({ state: 'detached' });
      await progress.waitFor();
      await button(`Cancel ${ID}`).click();
      await asked.getByRole('button', { name: 'Cancel download' }).click();
      await button(`Download ${ID}`).waitFor();
      hub.behaviour.speed = 0;
      await button(`Download ${ID}`).click();
      await button(`Start ${ID}`).waitFor();
    });

    it('starts it, streams its answer as text, and stops generating', async () => {
      await button(`Start ${ID}`).click();
      const message = page.getByRole('textbox', { name: 'Message' });
      await message.fill('# <img src=x onerror=alert(1)> **tell** me');
      await button('Send').click();
      await page
        .getByRole('status')
        .getByText(/\d+ tokens, \d+\.\d tokens\/s/)
        .waitFor();
      const said = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
      expect(await said.first().innerText()).toContain(
        '# <img src=x onerror=alert(1)> **tell** me',
      );
      if (await button('Stop generating').isEnabled()) await button('Stop generating').click();
      await expect.poll(() => button('Send').isEnabled()).toBe(true);
      expect(await page.locator('main img, main b[onclick]').count()).toBe(0);
    });

    it('stops it, and deletes it after asking', async () => {
      await button(`Stop ${ID}`).click();
      await page
        .getByRole('alertdialog', { name: 'Stop' })
        .getByRole('button', { name: 'Stop' })
        .click();
      await button(`Delete ${ID}`).click();
      const asked = page.getByRole('alertdialog', { name: 'Delete' });
      await asked.getByText(ID).waitFor();
      await asked.getByRole('button', { name: 'Delete' }).click();
      await button(`Download ${ID}`).waitFor();
      const { body } = await server.call('GET', '/api/system/audit', undefined, server.operator);
      const actions = body.entries.map(({ action, via }: any) => `${via} ${action}`);
      for (const action of [
        'downloadModel',
        'cancelDownload',
        'startModel',
        'stopModel',
        'deleteModel',
      ])
        expect(actions.some((each: string) => each.startsWith(`console ${action}`))).toBe(true);
      expect(problems).toEqual([]);
    });
  });
});
