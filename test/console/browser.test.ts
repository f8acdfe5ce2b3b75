import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="document.title=1"> "\'; ${7*7} \u202e javascript:alert(1)';

describeWith('chromium', 'the console in a browser', () => {
  let server: ConsoleServer;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startConsole();
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    const as = { Authorization: `Bearer ${body.token}` };
    await server.call('POST', '/api/authors', { name: HOSTILE }, as);
    for (let index = 1; index <= 60; index += 1)
      await server.call('POST', '/api/posts', { title: `Post ${index}`, authorId: '1' }, as);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (path: string, options = {}): Promise<Page> => {
    const page = await (await browser.newContext(options)).newPage();
    const note = (text: string) => void problems.push(text);
    page.on('request', (each) => {
      if (!each.url().startsWith(server.url) && !each.url().startsWith('data:')) note(each.url());
    });
    page.on('console', (each) => void (each.type() === 'error' && note(each.text())));
    page.on('pageerror', (error) => note(String(error)));
    await page.goto(`${server.url}/console${path}`);
    return page;
  };
  const focused = (page: Page) => () =>
    page.evaluate(
      'document.activeElement.ariaLabel ?? document.activeElement.firstElementChild.textContent',
    );
  const signIn = async (page: Page) => {
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  };

  it('signs the operator in, and shows what the address asked for', async () => {
    const page = await open('/data/posts?sort=title&order=desc');
    await expect.poll(() => page.title()).toBe('Sign in · shop');
    await signIn(page);
    const grid = page.getByRole('grid', { name: 'Post' });
    await grid.getByText('Post 9', { exact: true }).waitFor();
    expect(await grid.getAttribute('aria-rowcount')).toBe('61');
    expect(await page.getByRole('columnheader', { name: /title/ }).getAttribute('aria-sort')).toBe(
      'descending',
    );
    expect(await page.getByRole('columnheader').allTextContents()).not.toContain('author');
    await page.reload();
    await grid.getByText('Post 9', { exact: true }).waitFor();
    await page.getByRole('link', { name: '9', exact: true }).click();
    await page.getByRole('region', { name: 'Row 9' }).getByText('Post 9').waitFor();
    expect(page.url()).toContain('row=9');
    await page.goBack();
    await page.getByRole('region', { name: 'Row 9' }).waitFor({ state: 'detached' });
  });

  it('is opened by the link of the log, which is out of the address at once and works once', async () => {
    const link = server.logs.join('').match(/Console: (\S+#code=[\w-]+)/)![1]!;
    const at = link.slice(link.indexOf('/console'));
    const page = await open(at.slice('/console'.length));
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    expect(page.url()).not.toContain('code');
    const again = await open(at.slice('/console'.length));
    await again.getByRole('alert').getByText('This link was used').waitFor();
    problems.splice(0); // The browser logs the 400 itself.
  });

  it('keeps no credential where another script could read it', async () => {
    const page = await open('/');
    await signIn(page);
    const stored = (await page.evaluate(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])',
    )) as string;
    expect(stored).not.toMatch(/eyJ|rt1\./);
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('shows values as the text that they are', async () => {
    const page = await open('/data/authors');
    await signIn(page);
    await page.getByRole('grid', { name: 'Author' }).getByText(HOSTILE).waitFor();
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.title()).toBe('Data · shop');
  });

  it('shows the requests of the page as commands that a shell runs', async () => {
    const page = await open('/data/posts');
    await signIn(page);
    await page.getByRole('grid', { name: 'Post' }).waitFor();
    await page.getByRole('button', { name: 'Show as curl' }).click();
    const commands = await page.getByRole('dialog', { name: 'As curl' }).locator('pre').innerText();
    expect(commands).toContain(
      `curl -X GET '${server.url}/api/posts?include=author&fields=author.name&limit=100' -H "Authorization: Bearer $TOKEN"`,
    );
  });

  it('says what the server refused, and keeps the form', async () => {
    const page = await open('/');
    await page.getByLabel('Email').fill('nobody@x.test');
    await page.getByLabel('Password').fill('a guess');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Invalid credentials').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('nobody@x.test');
    problems.splice(0); // The browser logs the 401 itself.
  });

  it.each(['light', 'dark'] as const)(
    'has nothing that axe finds, in %s, and fits 320 px',
    async (colorScheme) => {
      const page = await open('/data/posts', {
        colorScheme,
        bypassCSP: true,
        viewport: { width: 320, height: 640 },
      });
      const check = async () => {
        await page.evaluate(axe);
        const { violations } = (await page.evaluate('axe.run()')) as {
          violations: { id: string }[];
        };
        expect(violations.map(({ id }) => id)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
          320,
        );
      };
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await check();
      await page.getByRole('radio', { name: 'Operator' }).check();
      await page.getByLabel('Password').fill(OPERATOR);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('grid', { name: 'Post' }).waitFor();
      await check();
      await page.getByRole('button', { name: 'Menu' }).click();
      await page.getByRole('link', { name: 'Schema' }).click();
      await page.getByRole('table', { name: 'Types' }).waitFor();
      await check();
    },
  );

  it('is used by keyboard alone', async () => {
    const page = await open('/schema');
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').focus();
    await page.keyboard.type(OPERATOR);
    await page.keyboard.press('Enter');
    await page.getByRole('table', { name: 'Types' }).waitFor();
    await page.evaluate('document.body.focus()');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.getByRole('button', { name: 'Account' }).focus();
    await page.keyboard.press('Enter');
    await expect.poll(focused(page)).toBe('Theme');
    await page.keyboard.press('ArrowDown');
    await expect.poll(focused(page)).toBe('Density');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.documentElement.dataset.density')).toBe('compact');
    await page.keyboard.press('End');
    await expect.poll(focused(page)).toBe('Sign out');
    await page.keyboard.press('Escape');
    await expect.poll(focused(page)).toBe('Account');
  });

  it('asked no other origin, broke no policy and failed nowhere', () => {
    expect(problems).toEqual([]);
  });
});
