import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { chromium as browsers, type Browser, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { violations } from '../console/axe.ts';
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
    await runFile(
      process.execPath,
      [tsc, '--noEmit', '-p', 'runtime/console/web/tsconfig.json'],
      repo,
    ),
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
    page.setDefaultTimeout(15_000);
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
    // A checkout builds the page first.
    await page.goto(`${server.url}/graphql`, { timeout: 45_000 });
    await box('Operation').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const box = (name: string) => page.getByRole('textbox', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const past = () => page.getByRole('list', { name: 'Operations that were run' });
  const write = (text: string) => box('Operation').fill(text);
  const written = () => box('Operation').innerText();

  it('forbids everything but its own files', async () => {
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    );
    const scripts = loaded.filter((each) => each.endsWith('.js'));
    expect(scripts.length).toBeGreaterThan(0);
    for (const url of [`${server.url}/graphql`, ...scripts]) {
      const { headers } = await fetch(url, { headers: { accept: 'text/html' } });
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
    }
  });

  it('weighs at most 230 kB packed, and is asked for again only when it has changed', async () => {
    const loaded = await page.evaluate(() =>
      performance.getEntriesByType('resource').map(({ name }) => name),
    );
    const files = loaded.filter((each) => each.startsWith(`${server.url}/graphql/assets/`));
    const answers = await Promise.all(
      files.map((url) => fetch(url, { headers: { 'accept-encoding': 'gzip' } })),
    );
    const sizes = await Promise.all(
      answers.map(async (answer) => gzipSync(Buffer.from(await answer.arrayBuffer())).length),
    );
    expect(sizes.reduce((all, size) => all + size, 0)).toBeLessThanOrEqual(230_000);
    for (const { headers } of answers) {
      expect(headers.get('content-encoding')).toBe('gzip');
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    }
    const document = await fetch(`${server.url}/graphql`, { headers: { accept: 'text/html' } });
    expect(document.headers.get('cache-control')).toBe('no-cache');
    expect(document.headers.get('vary')).toMatch(/Accept\b.*Accept-Encoding/);
    const tag = document.headers.get('etag') ?? '';
    const again = await fetch(`${server.url}/graphql`, {
      headers: { accept: 'text/html', 'if-none-match': tag, 'cache-control': 'max-age=0' },
    });
    expect(again.status).toBe(304);
  });

  it('begins with a query of this schema, which runs', async () => {
    await box('Operation').getByText('authors').waitFor();
    await button('Run').click();
    await region('Result').getByText('"name": "Ada"').waitFor();
    expect(await page.title()).toBe('GraphQL · app');
  });

  it('runs what is written, with variables and headers', async () => {
    await write('query One($id: ID!) { author(id: $id) { name } }');
    await box('Variables').fill('{ "id": "1" }');
    await box('Headers').fill('{ "X-Request-Id": "typed" }');
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await page.keyboard.press('Control+Enter');
    await region('Result')
      .getByText(/^200 in \d+ ms/)
      .waitFor();
    expect((await sent).headers()['x-request-id']).toBe('typed');
    expect(JSON.parse((await region('Result').locator('pre').textContent()) ?? '')).toEqual({
      data: { author: { name: 'Ada' } },
    });
  });

  it('completes fields, arguments and their values from the schema', async () => {
    await write('');
    await box('Operation').pressSequentially('{ authors { na');
    const option = page.getByRole('option', { name: /^name/ });
    await option.waitFor();
    expect(await option.textContent()).toContain('String!');
    await expect.poll(() => option.getAttribute('aria-selected')).toBe('true');
    await page.waitForTimeout(100); // A list that has just opened takes no Enter.
    await page.keyboard.press('Enter');
    await expect.poll(written).toContain('{ authors { name');
    await write('');
    await box('Operation').pressSequentially('{ authors(li');
    await page.getByRole('option', { name: /^limit/ }).click();
    await expect.poll(written).toContain('authors(limit');
  });

  it('lays a document out', async () => {
    await write('query A($id:ID!){author(id:$id){...on Author{name,posts(limit:1){id title}}}}');
    await page.keyboard.press('Control+Shift+P');
    await expect
      .poll(written)
      .toBe(
        'query A($id: ID!) {\n  author(id: $id) {\n    ... on Author {\n      name\n      posts(limit: 1) {\n        id\n        title\n      }\n    }\n  }\n}',
      );
  });

  it('shows the schema and finds in it', async () => {
    await button('Docs').click();
    const docs = region('Documentation');
    await docs.getByRole('searchbox').fill('titl');
    await docs.getByRole('listitem').filter({ hasText: 'Post.title' }).waitFor();
    await docs.getByRole('searchbox').fill('Post');
    await docs.getByRole('button', { name: 'Post', exact: true }).first().click();
    await docs.getByRole('searchbox').fill('');
    await docs.getByText('Deprecated: gone soon').waitFor();
    await docs.getByRole('button', { name: 'Author!', exact: true }).click();
    await docs.getByText('Somebody who writes').waitFor();
    await button('Docs').click();
  });

  it('follows a subscription', async () => {
    await write('subscription { authorCreated { name } }');
    await button('Run').click();
    await expect
      .poll(async () => {
        await server.query('mutation { createAuthor(name: "Bob") { id } }');
        return region('Result').getByText('Bob').count();
      })
      .toBeGreaterThan(0);
    await button('Stop').click();
    await region('Result')
      .getByText(/^\d+ events?$/)
      .waitFor();
  });

  it('keeps what was typed and what was run; headers for the tab alone', async () => {
    await write('{ posts { title } }');
    // The browser keeps it after the next picture, and would lose what it was told to leave before.
    const kept = () => page.evaluate<string>('JSON.stringify({ ...localStorage })');
    await expect.poll(kept).toContain('posts');
    await page.goto(`${server.url}/graphql`);
    await box('Operation').getByText('posts').waitFor();
    await box('Headers').getByText('X-Request-Id').waitFor();
    await past()
      .getByRole('button', { name: /query One/ })
      .click();
    await box('Operation').getByText('query One').waitFor();
    await box('Variables').getByText('"1"').waitFor();
    expect(await kept()).not.toContain('X-Request');
    await button('Save').click();
    const dialog = page.getByRole('dialog', { name: 'Save query' });
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('list', { name: 'Saved queries' }).getByText('One').waitFor();
    await button('Forget all').click();
    await past().getByRole('button').first().waitFor({ state: 'detached' });
  });

  it('takes operation and variables from its address', async () => {
    const given = new URLSearchParams({
      query: 'query Two($id: ID!) { author(id: $id) { id } }',
      variables: '{ "id": "2" }',
    });
    await page.goto(`${server.url}/graphql?${given}`);
    await box('Operation').getByText('query Two').waitFor();
    await box('Variables').getByText('"2"').waitFor();
  });

  it('reads the schema once the headers say who asks', async () => {
    const context = await browser.newContext();
    const other = await context.newPage();
    await other.route('**/graphql', (route) => {
      const asks = route.request().postData()?.includes('__schema') === true;
      return asks && route.request().headers()['authorization'] !== 'Bearer me'
        ? route.fulfill({ status: 401, json: { errors: [{ message: 'Unauthorized' }] } })
        : route.continue();
    });
    await other.goto(`${server.url}/graphql`);
    await other.getByText('The schema cannot be read').waitFor();
    await other.getByRole('textbox', { name: 'Headers' }).fill('{ "Authorization": "Bearer me" }');
    await other.getByRole('button', { name: 'Docs' }).waitFor();
    await other.getByText('The schema cannot be read').waitFor({ state: 'detached' });
    await context.close();
  });

  it.each(['light', 'dark'] as const)(
    'has no finding of axe, nor scrolls sideways: %s',
    async (colorScheme) => {
      const context = await browser.newContext({ colorScheme, bypassCSP: true });
      const other = await context.newPage();
      await other.goto(`${server.url}/graphql?docs=Author`);
      await other.getByText('Somebody who writes').waitFor();
      await other.getByRole('button', { name: 'Run', exact: true }).click();
      await other.getByText('"Ada"').waitFor();
      expect(await violations(other)).toEqual([]);
      for (const width of [320, 375, 1280, 1920]) {
        await other.setViewportSize({ width, height: 800 });
        expect([
          width,
          await other.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        ]).toEqual([width, true]);
        if (process.env['SCREENSHOT'])
          await other.screenshot({
            path: `${process.env['SCREENSHOT']}-${colorScheme}-${width}.png`,
          });
      }
      await context.close();
    },
  );

  it('asks no other host for anything, and breaks no policy', () => {
    expect(outside).toEqual([]);
    expect(problems).toEqual([]);
  });
});
