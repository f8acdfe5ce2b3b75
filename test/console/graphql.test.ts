import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prettify } from '../../runtime/console/web/pages/graphql/prettify.ts';
import { jsonLines, sqlLines } from '../../runtime/console/web/pages/graphql/lines.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HOSTILE = '<img src=x onerror="document.title=1"> "\'; ${7*7} \u202e javascript:alert(1)';

const SDL = `
  type User { id: ID! email: String! @unique }
  type Author @auth(allow: [PUBLIC]) { id: ID! "Their full name." name: String! posts: [Post!]! }
  type Post @auth(allow: [PUBLIC]) { id: ID! title: String! author: Author }
  type Query { authors: [Author!]! posts(limit: Int): [Post!]! big(kilobytes: Int!): [String!]! language: String! }
  type Mutation { createAuthor(name: String!): Author! }
  type Subscription { authorCreated: Author! }
`;
const MANIFEST = `
name: shop
api: { rest: true, access: public, introspection: never, limits: { result: 20MiB } }
auth: { roles: { list: [Owner, Member], first: Owner, default: Member } }
console: {}
`;
const big = (_: unknown, { kilobytes }: { kilobytes: number }) =>
  Array.from({ length: kilobytes }, (_, index) => `${index}${'x'.repeat(1000)}`);
const language = (_: unknown, __: unknown, ctx: { headers: Record<string, string> }) =>
  ctx.headers['accept-language'] ?? '';

describe('what the page of GraphQL lays out', () => {
  it('JSON keeps every character, and stops where it is told to', () => {
    const json = '{"a":[],"b":{},"n":12345678901234567890.10,"t":"x,{\\"}","l":[1,{"c":null}]}';
    const { text, whole } = jsonLines(json, 10_000);
    expect(whole).toBe(true);
    expect(text).toContain('"n": 12345678901234567890.10,');
    expect(JSON.parse(text)).toEqual(JSON.parse(json));
    expect(text.split('\n')).toHaveLength(12);
    const many = `[${'1,'.repeat(1_000_000)}1]`;
    const since = performance.now();
    expect(jsonLines(many, 1000)).toMatchObject({
      whole: false,
      text: expect.stringMatching(/^.{1000}$/s),
    });
    expect(performance.now() - since).toBeLessThan(200);
  });

  it('a document keeps its comments and its meaning', () => {
    const text = `# what\nquery  A($n:Int=3,$w:[In!]! @d){ a:posts(limit:$n,where:{title:{eq:"x"},l:[1 2]}) @include(if:true){id # the key\n ...F ...on Post{title} } }
fragment F on Post{ title }`;
    const laid = prettify(text);
    expect(laid).toContain('# what');
    expect(laid).toContain('id # the key');
    expect(laid).toMatch(
      /^ {2}a: posts\(limit: \$n, where: \{ title: \{ eq: "x" \}, l: \[1, 2\] \}\) @include\(if: true\) \{$/m,
    );
    expect(laid).toMatch(/^ {4}\.\.\. ?on Post \{$/m);
    expect(prettify(laid)).toBe(laid);
    expect(prettify('# why\n{a{b}}\n# next\n{c}')).toBe(
      '# why\n{\n  a {\n    b\n  }\n}\n# next\n{\n  c\n}\n',
    );
    expect(prettify('{a{b}}')).toBe('{\n  a {\n    b\n  }\n}');
    expect(() => prettify('{ a(')).toThrow(/Syntax Error/);
  });

  it('SQL changes in its white space alone', () => {
    const sql = `select (select json_group_array(json_object('from x', t1."limit")) from (select t2."a" from "posts" t2 left join "b" on t2.x = 1 where t2.y = 'it''s (' order by t2."id" limit 3) t1) as j`;
    const laid = sqlLines(sql);
    expect(laid.replaceAll(/\s+/g, '')).toBe(sql.replaceAll(/\s+/g, ''));
    expect(laid.split('\n').map((line) => line.trim().split(' ')[0])).toEqual(
      expect.arrayContaining(['select', 'from', 'left', 'where', 'order', 'limit']),
    );
  });
});

describeWith('chromium', 'the page GraphQL', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const scripts = new Set<string>();
  const box = (name: string) => page.getByRole('textbox', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const result = () => page.getByRole('region', { name: 'Result' });
  const open = (query: string, more = '') =>
    page.goto(`${server.url}/console/graphql?query=${encodeURIComponent(query)}${more}`);
  const run = async (query: string) => {
    await box('Operation').fill(query);
    await box('Operation').press('Control+Enter');
  };
  const author = (name: string) =>
    server.call('POST', '/graphql', {
      query: 'mutation ($name: String!) { createAuthor(name: $name) { id } }',
      variables: { name },
    });

  beforeAll(async () => {
    server = await startConsole({
      sdl: SDL,
      manifest: MANIFEST,
      resolvers: { Query: { big, language } },
    });
    await author(HOSTILE);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
    const note = (text: string) => void problems.push(text);
    page.on('request', (each) => {
      if (/assets\/.*js$/.test(each.url())) scripts.add(each.url());
      if (!each.url().startsWith(server.url) && !/^(data|blob):/.test(each.url())) note(each.url());
    });
    page.on('console', (each) => void (each.type() === 'error' && note(each.text())));
    page.on('pageerror', (error) => note(String(error)));
    await page.goto(`${server.url}/console/data`, { timeout: 45_000 });
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await button('Sign in').click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('loads at most 200 kB more, packed, and none of it before', async () => {
    const before = [...scripts];
    await page.getByRole('link', { name: 'GraphQL' }).click();
    await box('Operation').waitFor();
    await box('Headers').waitFor();
    await expect.poll(() => page.title()).toBe('GraphQL · shop');
    const more = [...scripts].filter((each) => !before.includes(each));
    const sizes = await Promise.all(
      more.map(async (url) => gzipSync(Buffer.from(await (await fetch(url)).arrayBuffer())).length),
    );
    const sum = sizes.reduce((all, size) => all + size, 0);
    expect(sum).toBeGreaterThan(50_000);
    expect(sum).toBeLessThanOrEqual(200_000);
  });

  it('begins with a query of this schema, which runs', async () => {
    await page.goto(`${server.url}/console/graphql`);
    await box('Operation').getByText('authors').waitFor();
    await button('Run').click();
    await result().getByText('"authors": [').waitFor();
    await result().getByText('onerror=').waitFor();
  });

  it('runs the operation of the address with variables and headers, by Ctrl+Enter', async () => {
    await open('query A($n: Int) { authors { name } posts(limit: $n) { id } language }');
    await box('Variables').fill('{"n": 2}');
    await box('Headers').fill('{"Accept-Language": "eo"}');
    await box('Headers').press('Control+Enter');
    await result().getByText('"language": "eo"').waitFor();
    // What the database has is text, never markup.
    await result().getByText('onerror=').waitFor();
    await result()
      .getByText(/^200 in \d+ ms/)
      .waitFor();
    await box('Operation').fill('{ language }');
    await expect.poll(() => new URL(page.url()).searchParams.get('query')).toBe('{ language }');
    await page.reload();
    await box('Operation').getByText('language').waitFor();
    expect(await box('Variables').textContent()).not.toContain('"n"');
  });

  it('says what is wrong: in the boxes, in the answer, at its place', async () => {
    await run('{\n  authors { nope }\n}');
    await result().getByText('Cannot query field').waitFor();
    const marks = page.locator('.cm-lintRange-error');
    await expect.poll(() => marks.allTextContents()).toEqual(['nope']);
    await box('Variables').fill('{"n": ');
    await button('Run').click();
    await page
      .getByRole('alert')
      .getByText(/Variables is not valid JSON/)
      .waitFor();
    await box('Variables').fill('[1]');
    await button('Run').click();
    await page.getByRole('alert').getByText('Variables must be a JSON object').waitFor();
    await box('Variables').fill('');
    await box('Headers').fill('{"a b": "c"}');
    await button('Run').click();
    await result().getByRole('alert').waitFor();
    await box('Headers').fill('');
    problems.splice(0); // The browser logs the 400 itself.
  });

  it('completes and documents, where introspection is off too', async () => {
    await box('Operation').fill('');
    await box('Operation').pressSequentially('{ auth');
    await page.getByRole('option', { name: /^authors/ }).waitFor();
    await page.keyboard.press('Escape');
    await button('Docs').click();
    const docs = page.getByRole('region', { name: 'Documentation' });
    await docs.getByRole('button', { name: 'Query' }).click();
    await docs.getByRole('button', { name: '[Author!]!' }).click();
    await docs.getByText('Their full name.').waitFor();
    expect(page.url()).toContain('docs=Author');
    await docs.getByRole('searchbox', { name: 'Search types' }).fill('titl');
    await docs.getByText('title').waitFor();
    await button('Docs').click();
    await docs.waitFor({ state: 'detached' });
  });

  it('explains the operation of the caller and of the public', async () => {
    await box('Operation').fill('{ posts(limit: 3) { title author { name } } }');
    await button('Explain').click();
    const plan = page.getByRole('region', { name: 'Plan', exact: true });
    await plan.getByText(/1 statement, depth 3, cost/).waitFor();
    await plan.getByText(/from "posts"/).waitFor();
    await plan
      .getByText(/SCAN|SEARCH/)
      .first()
      .waitFor();
    await page.getByRole('combobox', { name: 'as' }).selectOption('user');
    await page.getByRole('textbox', { name: 'User id' }).fill('77');
    await button('Explain').click();
    await plan.getByRole('alert').getByText('names no user').waitFor();
    await page.getByRole('combobox', { name: 'as' }).selectOption('me');
    problems.splice(0);
  });

  it('takes the characters that are shortcuts elsewhere', async () => {
    await box('Operation').fill('');
    await box('Operation').focus();
    await page.keyboard.type('# why? a/b\n{ language }');
    await expect.poll(() => box('Operation').innerText()).toContain('# why? a/b\n{ language }');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('saves queries in this browser, without variables and headers', async () => {
    await box('Operation').fill('query Mine { authors { id } }');
    await box('Variables').fill('{"secret": "hunter2"}');
    await button('Save').click();
    const dialog = page.getByRole('dialog', { name: 'Save query' });
    await expect.poll(() => dialog.getByLabel('Name').inputValue()).toBe('Mine');
    await dialog.getByLabel('Name').fill(HOSTILE);
    await dialog.getByRole('button', { name: 'Save' }).click();
    const list = page.getByRole('list', { name: 'Saved queries' });
    await list.getByText(HOSTILE).waitFor();
    expect(await page.evaluate('JSON.stringify({ ...localStorage })')).not.toContain('hunter2');
    await open('');
    await list.getByText(HOSTILE).click();
    await box('Operation').getByText('query Mine').waitFor();
    await list.getByRole('button', { name: /^Remove/ }).click();
    const asked = page.getByRole('alertdialog');
    await asked.getByRole('button', { name: 'Remove' }).click();
    await list.getByText(HOSTILE).waitFor({ state: 'detached' });
  });

  it('shows the events of a subscription as they come, until it is stopped', async () => {
    await run('subscription { authorCreated { name } }');
    await page
      .getByText('0 events, waiting for more')
      .or(page.getByText('Running'))
      .first()
      .waitFor();
    await expect
      .poll(async () => {
        await author('Eve');
        return result().getByText('"name": "Eve"').count();
      })
      .toBeGreaterThan(1);
    await button('Stop').click();
    await result()
      .getByText(/^\d+ events$/)
      .waitFor();
    expect(await button('Stop').isDisabled()).toBe(true);
  });

  it('shows the beginning of a very large answer without a long task', async () => {
    // The unit is what this machine needs to lay out a text that is shown in full.
    await page.evaluate(`
      window.longest = 0;
      const begun = performance.now();
      const shown = document.createElement('pre');
      shown.textContent = 'a line of an answer that is shown\\n'.repeat(6000);
      document.body.append(shown);
      shown.getBoundingClientRect();
      shown.remove();
      window.unit = performance.now() - begun;
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
      }).observe({ type: 'longtask' });`);
    await run('{ big(kilobytes: 10000) }');
    await result()
      .getByText(/The answer has 10/)
      .waitFor({ timeout: 15_000 });
    await result().getByRole('button', { name: 'Download' }).waitFor();
    expect((await result().locator('pre').textContent())!.length).toBeLessThanOrEqual(200_000);
    expect(Number(await page.evaluate('window.longest / Math.max(window.unit, 50)'))).toBeLessThan(
      10,
    );
    await box('Operation').fill('{ language }');
  });

  it('lays out by Prettify, and is left by Tab', async () => {
    await box('Operation').fill('# why\n{authors{id name}}');
    await button('Prettify').click();
    await expect
      .poll(() => box('Operation').innerText())
      .toContain('# why\n{\n  authors {\n    id\n    name\n  }\n}\n');
    await box('Operation').focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.shadowRoot?.activeElement?.ariaLabel')).toBe(
      'Variables',
    );
  });

  it('breaks no policy, asks no other origin, and logs no error', () => {
    expect(problems).toEqual([]);
  });

  it.each(['light', 'dark'] as const)(
    'has no finding of axe, nor scrolls sideways: %s',
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      await open('query A { authors { name } }', '&docs=Author');
      await button('Run').click();
      await result().getByText('"name"').first().waitFor();
      await button('Explain').click();
      await page
        .getByRole('region', { name: 'Plan', exact: true })
        .getByText(/SCAN/)
        .first()
        .waitFor();
      await page.evaluate(axe);
      const found = await page.evaluate(
        `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html }) => html).join(' | ')))`,
      );
      expect(found).toEqual([]);
      for (const width of [320, 375, 1280, 1920]) {
        await page.setViewportSize({ width, height: 800 });
        expect([
          width,
          await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        ]).toEqual([width, true]);
      }
    },
  );
});
