import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { freePort } from '../engines/free-port.ts';
import { enter, settled } from './pages.ts';
import { type ConsoleServer, OPERATOR } from './server.ts';

const script = join(import.meta.dirname, 'killed-server.ts');
const ADDRESS = `127.0.0.1:${await freePort()}`;
const url = `http://${ADDRESS}`;

describeWith('chromium', 'a server that is killed and started again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tf-killed-'));
  let child: ChildProcess;
  let browser: Browser;
  const start = async () => {
    const env = {
      ...process.env,
      TEST_ADDRESS: ADDRESS,
      TEST_DATABASE: `file:${join(folder, 'app.db')}`,
    };
    child = fork(script, { env, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    await once(child, 'message');
  };
  const call = async (method: string, path: string, body?: object, token?: string) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'Content-Type': 'application/json',
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as any;
  };
  let token: string;
  beforeAll(async () => {
    await start();
    ({ token } = await call('POST', '/api/auth/login', { password: OPERATOR }));
    await call('POST', '/api/posts', { title: 'Before' }, token);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  /** Makes rows until the subscription of the page shows one. */
  const hears = (page: Page, title: string) =>
    expect
      .poll(
        async () => {
          await call('POST', '/api/posts', { title }, token);
          return page.getByText(`"title": "${title}"`).count();
        },
        { timeout: 20_000, interval: 250 },
      )
      .toBeGreaterThan(0);

  it('is gone on with by every page by itself, and staged edits are there and save', async () => {
    const context = await browser.newContext();
    // A dozen pages at once are slow on a busy machine.
    context.setDefaultTimeout(120_000);
    await enter(context, { url } as ConsoleServer, 'operator');
    const { pages } = await call('GET', '/api/console', undefined, token);
    const tabs: Page[] = [];
    for (const { path } of pages as { path: string }[]) {
      const page = await context.newPage();
      const at = path.endsWith('/data') ? `${path}/posts` : path;
      await page.goto(url + at);
      await settled(page);
      tabs.push(page);
    }
    const graphql = tabs.find((page) => new URL(page.url()).pathname.endsWith('/graphql'))!;
    const operation = graphql.getByRole('textbox', { name: 'Operation' });
    await operation.fill('subscription { postCreated { title } }');
    await operation.press('Control+Enter');
    await hears(graphql, 'First');
    const data = tabs.find((page) => new URL(page.url()).pathname.endsWith('/data/posts'))!;
    const cell = data.getByRole('grid').getByText('Before');
    await cell.dblclick();
    await data.getByRole('textbox', { name: 'title' }).fill('After');
    await data.keyboard.press('Enter');
    await data.getByText('1 unsaved change').waitFor();
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    const gone = tabs.map((page) =>
      page.getByRole('status').filter({ hasText: 'Reconnecting' }).first(),
    );
    await Promise.all(gone.map((status) => status.waitFor()));
    await start();
    await Promise.all(gone.map((status) => status.waitFor({ state: 'detached' })));
    await Promise.all(tabs.map(settled));
    for (const page of tabs)
      expect([page.url(), await page.getByRole('alert').allInnerTexts()]).toEqual([page.url(), []]);
    await hears(graphql, 'Second');
    expect(await graphql.getByText('"title": "First"').count()).toBeGreaterThan(0);
    expect(await data.getByText('1 unsaved change').count()).toBe(1);
    await data.getByRole('button', { name: 'Save changes' }).click();
    await data.getByText('1 unsaved change').waitFor({ state: 'detached' });
    expect((await call('GET', '/api/posts/1', undefined, token)).title).toBe('After');
  }, 300_000);
});
