import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium as browsers } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { starters } from '../../templates/starter/index.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { generator, repo } from '../generator/project.ts';

const ENV = {
  ...process.env,
  ...{ PORT: '0', HOST: '127.0.0.1', NODE_ENV: 'development', LOG_LEVEL: 'info' },
  DOCKER_HOST: `unix://${process.env['TEST_DOCKER_SOCKET'] ?? process.env['TEST_PODMAN_SOCKET']}`,
};

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  /** The logged link, behind the address at which this server answers. */
  readonly link: string;
}

/** `npm start` in a project, until it has logged both addresses. */
function start(folder: string): Promise<Started> {
  const child = spawn(process.execPath, ['src/server.ts'], { cwd: folder, env: ENV });
  let text = '';
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += String(chunk);
      const url = /listening on (http:\/\/[^\s"]+)/.exec(text)?.[1];
      const at = /Console: http:\/\/[^/]+(\/\S+#code=[\w-]+)/.exec(text)?.[1];
      if (url && at) resolve({ child, url, link: url + at });
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('close', (code) => reject(new Error(`ended with ${code}:\n${text}`)));
  });
}

describeWith('chromium', 'the first entry into a new project (acceptance 1)', () => {
  const home = mkdtempSync(join(tmpdir(), 'tf-entry-'));
  const running: ChildProcess[] = [];
  let browser: Browser;
  beforeAll(async () => {
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    for (const child of running) child.kill('SIGKILL');
    rmSync(home, { recursive: true, force: true });
  });

  const open = async (context: BrowserContext, link: string) => {
    const page = await context.newPage();
    await page.goto(link);
    return page;
  };

  it.each(Object.keys(starters))(
    'signs the operator in by the logged link of the template %s, once',
    async (template) => {
      const folder = join(home, template);
      rmSync(folder, { recursive: true, force: true }); // Of an earlier try.
      const made = await generator(['init', folder, '--template', template, '--no-install'], home);
      expect([made.code, made.stderr]).toEqual([0, expect.any(String)]);
      symlinkSync(join(repo, 'node_modules'), join(folder, 'node_modules'));
      expect(readFileSync(join(folder, '.env'), 'utf8')).toMatch(/^HOST_PASSWORD=\S{12,}/m);
      const { child, url, link } = await start(folder);
      running.push(child);
      const context = await browser.newContext();
      const page = await open(context, link);
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      expect(page.url()).not.toContain('code');
      const second = await browser.newContext();
      const again = await open(second, link);
      await again.getByRole('alert').getByText('This link was used').waitFor();
      await again.close();
      // The command does not depend on the template.
      if (template === 'starter') {
        const told = await generator(['console'], folder, ENV);
        const other = /#code=[\w-]+/.exec(told.stdout)![0];
        expect(link).not.toContain(other);
        const third = await open(second, `${url}/console${other}`);
        await third.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      }
      await Promise.all([context.close(), second.close()]);
      child.kill('SIGTERM');
    },
  );
});
