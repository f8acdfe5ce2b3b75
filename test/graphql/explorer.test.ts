import { join } from 'node:path';
import { chromium as browsers, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { repo, runFile } from '../generator/project.ts';
import { startServer, type TestServer } from './harness.ts';

const tsc = join(repo, 'node_modules/typescript/bin/tsc');
const SDL = `
  "Somebody who writes"
  type Author { id: ID! name: String! "What was written" posts(limit: Int): [Post!]! }
  type Post { id: ID! title: String! author: Author! old: String @deprecated(reason: "gone soon") }
  type Query { authors(limit: Int): [Author!]! author(id: ID!): Author posts: [Post!]! }
  type Mutation { createAuthor(name: String!): Author! }
  type Subscription { authorCreated: Author! }
`;

it('is made of TypeScript that compiles for browsers', async () => {
  expect(
    await runFile(process.execPath, [tsc, '--noEmit', '-p', 'tsconfig.browser.json'], repo),
  ).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
});

describeWith('chromium', 'the explorer in a browser', () => {
  let server: TestServer;
  let browser: Browser;
  let page: Page;
  const outside: string[] = [];
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startServer(SDL);
    await server.query('mutation { createAuthor(name: "Ada") { id } }');
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await browser.newPage({ viewport: { width: 1300, height: 760 } });
    page.on(
      'request',
      (request) =>
        void (
          request.url().startsWith(server.url) ||
          request.url().startsWith('data:') ||
          outside.push(request.url())
        ),
    );
    page.on(
      'console',
      (message) => void (message.type() === 'error' && problems.push(message.text())),
    );
    page.on('pageerror', (error) => void problems.push(String(error)));
    await page.goto(`${server.url}/graphql`);
    // Chromium drops a request for a script when a network of a container appears or goes.
    const written = page.waitForSelector('#query textarea', { timeout: 10_000 });
    await written.catch(() => page.reload());
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const write = async (text: string) => {
    await page.fill('#query textarea', '');
    await page.click('#query textarea');
    await page.keyboard.insertText(text);
  };
  /** The page's own policy forbids what the browser would evaluate to wait. */
  const shows = (selector: string, text: RegExp) =>
    page.locator(selector, { hasText: text }).waitFor();
  const result = () => page.textContent('#result');

  it('forbids everything but its own files', async () => {
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    );
    const scripts = loaded.filter((each) => /\.(ts|js)$/.test(each));
    expect(scripts.length).toBeGreaterThan(0);
    for (const url of [`${server.url}/graphql`, ...scripts]) {
      const { headers } = await fetch(url, { headers: { accept: 'text/html' } });
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('runs what is written, with variables', async () => {
    await write('query One($id: ID!) { author(id: $id) { name } }');
    await page.fill('#variables textarea', '{ "id": "1" }');
    await page.keyboard.press('Control+Enter');
    await shows('#status', /^200/);
    expect(JSON.parse((await result()) ?? '')).toEqual({ data: { author: { name: 'Ada' } } });
  });

  it('completes fields, arguments and their values from the schema', async () => {
    await write('{ authors { ');
    await page.keyboard.type('na');
    expect(await page.textContent('#completion li[aria-selected=true]')).toContain('nameString!');
    await page.keyboard.press('Enter');
    expect(await page.inputValue('#query textarea')).toContain('{ authors { name');
    await write('{ authors(');
    await page.keyboard.type('li');
    await page.keyboard.press('Tab');
    expect(await page.inputValue('#query textarea')).toContain('authors(limit: ');
  });

  it('lays a document out', async () => {
    await write('query A($id:ID!){author(id:$id){...on Author{name,posts(limit:1){id title}}}}');
    await page.click('#prettify');
    expect(await page.inputValue('#query textarea')).toBe(
      'query A($id: ID!) {\n  author(id: $id) {\n    ... on Author {\n      name\n      posts(limit: 1) {\n        id\n        title\n      }\n    }\n  }\n}\n',
    );
  });

  it('shows the schema and finds in it', async () => {
    await page.fill('#documentation input', 'titl');
    expect(await page.textContent('#documentation')).toContain('Post.title');
    await page.click('#documentation a:text("Post")');
    expect(await page.textContent('#documentation')).toContain('Deprecated: gone soon');
    await page.click('#documentation a:text("Author")');
    expect(await page.textContent('#documentation')).toContain('Somebody who writes');
  });

  it('follows a subscription', async () => {
    await write('subscription { authorCreated { name } }');
    await page.click('#run');
    await shows('#status', /^listening/);
    await server.query('mutation { createAuthor(name: "Bob") { id } }');
    await shows('#result', /Bob/);
    await page.click('#run');
    await shows('#status', /^stopped/);
  });

  it('keeps what was run, and asks no other host for anything', async () => {
    await page.click('#show-history');
    await page.click('.past >> nth=-1');
    expect(await page.inputValue('#query textarea')).toContain('query One');
    if (process.env['SCREENSHOT']) {
      await page.click('#show-documentation');
      await write(
        '# Everybody and what they wrote\nquery Authors($limit: Int = 5) {\n  authors(limit: $limit) {\n    id\n    name\n    posts(limit: 2) {\n      title\n      \n    }\n  }\n}\n',
      );
      await page.keyboard.press('Control+Enter');
      await page.waitForTimeout(300);
      await page.keyboard.type('  t');
      await page.screenshot({ path: process.env['SCREENSHOT'] });
    }
    expect(outside).toEqual([]);
    expect(problems).toEqual([]);
  });
});
