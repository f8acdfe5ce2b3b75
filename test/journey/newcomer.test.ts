import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { importImage } from '../engines/import-image.ts';
import { root } from '../source-files.ts';

/** A program in a terminal: what it prints, and the link to the console when that is printed. */
interface Shown {
  readonly child: ChildProcess;
  readonly link: Promise<string>;
}

/** Settings that a new user does not have. */
const FOREIGN = /^(npm_|VITEST|NODE_ENV|HOST|DATABASE_URL|CI$)/;

function type(cwd: string, command: string, more: Readonly<Record<string, string>>): Shown {
  const [program = '', ...words] = command.split(' ');
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN.test(name));
  const child = spawn(program, words, {
    cwd,
    env: { ...Object.fromEntries(kept), PORT: '0', ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const link = new Promise<string>((resolve, reject) => {
    let text = '';
    const read = (chunk: Buffer) => {
      text += chunk;
      const found = /Console: (http:\S+#code=[\w-]+)/.exec(text)?.[1];
      if (found && text.includes('listening on')) resolve(found);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', () => reject(new Error(`${command} ended:\n${text}`)));
  });
  return { child, link };
}

/** As Ctrl+C does: the signal reaches every program of the terminal. */
async function interrupt({ child }: Shown): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => void child.once('close', resolve));
  process.kill(-child.pid!, 'SIGINT');
  await ended;
}

describeWith('chromium', 'a new user who reads no documentation', () => {
  describeWith('docker', 'and has Docker', () => {
    const socket = process.env['TEST_DOCKER_SOCKET']!;
    const home = mkdtempSync(join(tmpdir(), 'twofold-newcomer-'));
    const demo = join(home, 'demo');
    const settings = { DOCKER_HOST: `unix://${socket}` };
    let browser: Browser;
    let page: Page;
    let terminal: Shown;

    beforeAll(async () => {
      terminal = type(root, `npx generator init ${demo} --start`, settings);
      [browser] = await Promise.all([launch(), importImage(socket, 'twofold-test/web:1')]);
      page = await browser.newPage();
      await page.goto(await terminal.link);
    });
    afterAll(async () => {
      await browser?.close();
      await interrupt(terminal);
      rmSync(home, { recursive: true, force: true });
    });

    it('opens the printed link and makes a row', async () => {
      const steps = page.getByRole('region', { name: 'Next steps' });
      await steps.getByRole('link', { name: 'Add rows' }).click();
      await page.getByText('Add one with New row').waitFor();
      await page.getByRole('button', { name: 'New row' }).click();
      const dialog = page.getByRole('dialog', { name: 'New User' });
      await dialog.getByRole('textbox', { name: 'name' }).fill('Ada');
      await dialog.getByRole('textbox', { name: 'email' }).fill('ada@example.test');
      await dialog.getByRole('button', { name: 'Create' }).click();
      await page.getByRole('grid', { name: 'User' }).getByText('ada@example.test').waitFor();
    });

    it('does what the page says about hosting, and deploys an app', async () => {
      await page.getByRole('link', { name: 'Overview' }).click();
      const step = page.getByRole('listitem').filter({ hasText: 'Host apps' });
      const [line] = await step.locator('code').allTextContents();
      expect(await step.textContent()).toContain('npm run dev');
      await interrupt(terminal);
      // The ports 80 and 443 of this machine are not the test's.
      const text = line!.replace('{}', '{ ingress: { http: 0, https: 0 } }');
      const manifest = join(demo, 'manifest.yaml');
      writeFileSync(manifest, `${readFileSync(manifest, 'utf8')}\n${text}\n`);
      terminal = type(demo, 'npm run dev', settings);
      await page.goto(await terminal.link);
      const steps = page.getByRole('region', { name: 'Next steps' });
      await steps.getByRole('link', { name: 'Deploy an app' }).click();
      await page.getByRole('button', { name: 'New app' }).first().click();
      const dialog = page.getByRole('dialog', { name: 'New app' });
      await dialog.getByRole('textbox', { name: 'Name' }).fill('hello');
      await dialog.getByRole('textbox', { name: 'Image' }).fill('twofold-test/web:1');
      await dialog.getByRole('button', { name: 'Create app' }).click();
      await page.getByRole('heading', { name: 'hello', level: 1 }).waitFor();
      await page.getByText('running', { exact: true }).waitFor();
      const [shown] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('link', { name: /^http:\/\/hello\./ }).click(),
      ]);
      await shown.getByText('version 1').waitFor();
      await shown.close();
    });

    it('deletes the app again', async () => {
      await page.getByRole('button', { name: 'Delete app' }).click();
      const asked = page.getByRole('alertdialog');
      await asked.getByRole('textbox', { name: 'Type hello to confirm' }).fill('hello');
      await asked.getByRole('button', { name: 'Delete app' }).click();
      await page.getByText('No apps yet').waitFor();
    });
  });
});

const launch = () => browsers.launch({ executablePath: chromium!, args: ['--no-sandbox'] });
