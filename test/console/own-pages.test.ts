import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { createServer, type Running } from '@twofold/runtime';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import {
  generator,
  linkPackages,
  makeProject,
  repo,
  type TestProject,
} from '../generator/project.ts';
import { readPage } from '../docs/page.ts';
import { OPERATOR } from './server.ts';

const SCHEMA = `
type User { id: ID! email: String! @unique }
type Order @auth(allow: [PUBLIC]) { id: ID! total: Int! buyer: String! }
type Query { orders(limit: Int): [Order!]! }
type Mutation { createOrder(total: Int!, buyer: String!): Order! }
`;

const SALES = `import { definePage, html, useQuery, useGraphql, Table, Plot } from '@twofold/console';
import { pointsOf, type Order } from './parts/points.ts';

export default definePage({
  title: 'Sales', path: 'sales',
  render: ({ caller, query }) => {
    const { data, error, loading, reload } = useQuery<{ data: Order[] }>('/api/orders?limit=50');
    const { data: counted } = useGraphql<{ orders: { id: string }[] }>('{ orders { id } }');
    return html\`<p>\${caller.kind} \${query['month'] ?? 'all'} \${counted?.orders.length} orders</p>
      <\${Plot} name="Totals" series=\${[{ name: 'total', unit: '€', points: pointsOf(data?.data ?? []) }]} />
      <\${Table} name="Orders" rows=\${data?.data} error=\${error} loading=\${loading} again=\${reload} columns=\${['id', 'total', 'buyer']} linkOf=\${({ buyer }: Order) => buyer} />
      <a href=\${data?.data[0]?.buyer}>first</a> <A href=\${[data?.data[0]?.buyer]}>listed</A>\`;
  },
});
`;

const POINTS = `export interface Order { id: string; total: number; buyer: string }

export const pointsOf = (orders: readonly Order[]): [number, number][] =>
  orders.map(({ total }, at) => [1_764_000_000 + at * 60, total]);

console.info('import definePage from "@twofold/console" is only a text', document.title.length);
`;

const BROKEN = `import { definePage } from '@twofold/console';
export default definePage({ title: 'Broken', path: 'broken', permission: 'orders:read',
  render: () => { throw new Error('the figures are upside down'); } });
`;

const ORDER = `import { definePage, Editor, html } from '@twofold/console';
export default definePage({ title: 'One order', path: 'orders/:id', render: ({ params }) => html\`<p>order \${params['id']}</p>
  <\${Editor} label="Note" language="json" value='{"paid": true}' change=\${() => {}} />
  <\${Editor} label="Words" value="thanks" change=\${() => {}} />\` });
`;

describeWith('chromium', 'pages of the project’s own', () => {
  let project: TestProject;
  let server: Running;
  let browser: Browser;
  const problems: string[] = [];
  beforeAll(async () => {
    project = makeProject({
      'schema.graphql': SCHEMA,
      'manifest.yaml':
        'name: shop\napi: { rest: true, access: public }\nauth: { roles: { list: [Owner, Support], first: Owner, default: Support } }\nconsole: { roles: { Owner: ["*"], Support: ["data:read"] } }\n',
      'src/console/sales.ts': SALES,
      'src/console/broken.ts': BROKEN,
      'src/console/order.ts': ORDER,
      'src/console/parts/points.ts': POINTS,
    });
    linkPackages(project);
    const { code, stderr } = await generator(['generate'], project.root);
    expect([code, stderr]).toEqual([0, expect.stringContaining('src/console/tsconfig.json')]);
    const { app } = (await import(project.path('src/generated/app.ts'))) as { app: never };
    const running = createServer(app);
    const env = {
      DATABASE_URL: ':memory:',
      LOG_LEVEL: 'silent',
      JWT_SECRET: 'a secret of the tests that is long enough',
      HOST_PASSWORD: OPERATOR,
      API_KEY: 'key-of-the-console-0123456789abcdef',
      RATE_LIMIT_ENABLED: 'false',
    };
    server = await running.start('127.0.0.1:0', { env });
    for (const total of [3, 5, 8])
      await fetch(`${server.url}/api/orders`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-API-Key': env.API_KEY },
        body: JSON.stringify({ total, buyer: 'javascript:alert(1)' }),
      });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
    project?.remove();
  });

  const open = async (path: string): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.on('request', (each) => {
      if (!each.url().startsWith(server.url) && !each.url().startsWith('data:'))
        problems.push(each.url());
    });
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    await page.goto(`${server.url}/console${path}`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    return page;
  };

  it('show a query and a plot, below the other pages of the navigation', async () => {
    const page = await open('/pages/sales?month=may');
    await page.getByRole('heading', { name: 'Sales', level: 1 }).waitFor();
    await page.getByText('host may 3 orders').waitFor();
    await page.getByRole('table', { name: 'Orders' }).getByText('8', { exact: true }).waitFor();
    await page.getByRole('img', { name: /^Totals: .*8/ }).waitFor();
    expect(await page.title()).toBe('Sales · shop');
    const links = await page
      .getByRole('navigation', { name: 'Main' })
      .getByRole('link')
      .allTextContents();
    expect(links.slice(-2)).toEqual(['Broken', 'Sales']);
    // A value of a row becomes no link that runs.
    for (const name of ['first', 'listed'])
      expect(await page.getByText(name, { exact: true }).getAttribute('href')).toBeNull();
    expect(await page.locator('main table a').count()).toBe(0);
    await page.getByRole('button', { name: 'Show as curl' }).click();
    expect(await page.getByRole('dialog').innerText()).toContain('/api/orders?limit=50');
  });

  it('show their error where they are, and the rest works', async () => {
    const page = await open('/pages/broken');
    await page.getByRole('alert').getByText('the figures are upside down').waitFor();
    await page.getByRole('heading', { name: 'Broken', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Sales' }).click();
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    await page.goto(`${server.url}/console/pages/orders/7%20a`);
    await page.getByText('order 7 a', { exact: true }).waitFor();
    await page.goto(`${server.url}/console/pages/orders/100%`);
    await page.getByText('order 100%', { exact: true }).waitFor();
    // JSON has the colours of the language, which are elements of their own.
    await page.getByRole('textbox', { name: 'Note' }).getByText('true', { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Words' }).inputValue()).toBe('thanks');
    await page.goto(`${server.url}/console/pages/nothing`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await page.goto(`${server.url}/console/pages/sales`);
    await page.getByRole('table', { name: 'Orders' }).waitFor();
    project.write(
      'src/console/sales.ts',
      SALES.replace('host', 'host').replace('orders</p>', 'orders sold</p>'),
    );
    await page.getByText('3 orders sold').waitFor();
    problems.splice(0, problems.length, ...problems.filter((each) => !/401|404/.test(each)));
  });

  it('go on by themselves when the server is back', async () => {
    const page = await open('/pages/sales');
    await page.getByText('3 orders').waitFor();
    for (const path of ['**/graphql', '**/modules/list.json']) {
      const all = [path, '**/console/'];
      for (const each of all) await page.route(each, (route) => route.abort());
      await page.getByRole('link', { name: 'Data', exact: true }).click();
      await page.getByRole('link', { name: 'Sales' }).click();
      await page.getByRole('status').getByText('Reconnecting').waitFor();
      for (const each of all) await page.unroute(each);
      await page.getByText('3 orders').waitFor();
    }
    await page.close();
    for (const problem of problems.splice(0)) expect(problem).toMatch(/401|ERR_FAILED/);
  });

  it('are listed for who has the permission', async () => {
    const ask = async (token: string) => {
      const answer = await fetch(`${server.url}/api/console`, {
        headers: { Authorization: `Bearer ${token}` },
      });
      return ((await answer.json()) as { pages: { id: string }[] }).pages.map(({ id }) => id);
    };
    const post = async (path: string, body: object) =>
      (await (
        await fetch(`${server.url}/api/auth/${path}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).json()) as { token: string; accessToken: string };
    const { token } = await post('login', { password: OPERATOR });
    expect((await ask(token)).slice(-2)).toEqual(['pages/broken', 'pages/sales']);
    const bob = { email: 'bob@x.test', password: 'correct horse battery staple' };
    await post('register', bob);
    const { accessToken } = await post('login', bob);
    const pages = await ask(accessToken);
    expect([pages.includes('pages/sales'), pages.includes('pages/broken')]).toEqual([true, false]);
  });

  it('are served from the server’s own origin, and nothing else of the project is', async () => {
    const get = (path: string) => fetch(`${server.url}/console/modules/${path}`);
    const { version, pages } = (await (await get('list.json')).json()) as {
      version: string;
      pages: { path: string; module: string }[];
    };
    expect(pages.map(({ path }) => path).sort()).toEqual(['broken', 'orders/:id', 'sales']);
    const module = await fetch(
      `${server.url}${pages.find(({ path }) => path === 'sales')!.module}`,
    );
    expect([module.headers.get('content-type'), module.headers.get('cache-control')]).toEqual([
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ]);
    expect(await module.text()).toMatch(/from "\/console\/assets\/page-api-[\w-]+\.js";/);
    const points = await (await get(`${version}/parts/points.ts`)).text();
    expect(points).toContain(`'import definePage from "@twofold/console" is only a text'`);
    expect(points).not.toContain('interface');
    for (const path of [
      '0/sales.ts',
      `${version}/../../server.ts`,
      `${version}/%2e%2e/server.ts`,
      `${version}/tsconfig.json`,
      `${version}/nothing.ts`,
    ])
      expect((await get(path)).status).toBe(path.includes('../..') ? 200 : 404);
  });

  it('bring no warning of Node into what generate prints, nor into the log of the server', () => {
    const printed = (...args: string[]) => {
      const { stderr, status } = spawnSync(process.execPath, args, { cwd: project.root });
      return [status, String(stderr)];
    };
    const quiet = [0, expect.not.stringContaining('ExperimentalWarning')];
    expect(printed(join(repo, 'generator/bin.js'), 'generate')).toEqual(quiet);
    const serve = `import { createOwnModules } from '${join(repo, 'runtime/console/own-modules.ts')}';
      const modules = createOwnModules({ path: '/console' }, { root: '.', settings: {} }, async () => '');
      const { version } = JSON.parse((await modules.read('list.json')).text);
      await modules.read(version + '/sales.ts');`;
    expect(printed('--input-type=module', '--eval', serve)).toEqual(quiet);
  });

  it('are covered by npm run typecheck, with the types of a browser', async () => {
    const { typecheck } = (
      JSON.parse(project.read('package.json')) as { scripts: { typecheck: string } }
    ).scripts;
    expect(typecheck).toBe('tsc && tsc -p src/console');
    const check = () => {
      try {
        return execFileSync(`${repo}/node_modules/.bin/tsc`, ['-p', 'src/console'], {
          cwd: project.root,
          encoding: 'utf8',
        });
      } catch (error) {
        return (error as { stdout: string }).stdout;
      }
    };
    const [shown] = readPage('runtime/console/docs/own-pages.md').blocks;
    project.write('src/console/shown.ts', shown!.text.replace("path: 'sales'", "path: 'shown'"));
    expect(check()).toBe('');
    project.write('src/console/sales.ts', SALES.replace('caller.kind', 'caller.knd'));
    expect(check()).toContain('src/console/sales.ts(9,');
    project.write('src/console/sales.ts', SALES);
  });

  it.each([
    ['import { format } from "date-fns";', 'CONSOLE_PAGE_IMPORT', 2, 'date-fns'],
    ['import { rows } from "../rows.ts";', 'CONSOLE_PAGE_IMPORT', 2, '../rows.ts'],
    ['import { pointsOf } from "./parts/points";', 'CONSOLE_PAGE_IMPORT', 2, './parts/points.ts'],
    ['const late = import("./" + name);', 'CONSOLE_PAGE_IMPORT', 2, 'computed'],
    ['enum Shade { Light }', 'CONSOLE_PAGE_INVALID', 2, 'enum'],
    ['const broken = ;', 'CONSOLE_PAGE_INVALID', 2, 'Expression expected'],
  ])('%s is %s', async (line, code, at, said) => {
    const text = `import { definePage } from '@twofold/console';\n${line}\nexport default definePage({ title: 'A', path: 'a', render: () => null });\n`;
    expect(await findingsOf({ 'a.ts': text })).toEqual([
      [code, 'src/console/a.ts', at, expect.stringContaining(said)],
    ]);
  });

  it.each([
    ['export const x = 1;\n', 1, 'no page as its default export'],
    ["export default definePage({ title: 'A', render: () => null });\n", 1, 'no path'],
    [
      "export default definePage({\n  title: 'A', path: '../a', render: () => null });\n",
      2,
      'path',
    ],
    ["export default definePage({ title: 'A', path: 'sales', render: () => null });\n", 1, 'taken'],
    [
      "export default definePage({ title: 'A', path: 'a', permission: 'all', render: () => null });\n",
      1,
      'permission',
    ],
  ])('%s is CONSOLE_PAGE_INVALID', async (text, at, said) => {
    const sales = "export default definePage({ title: 'S', path: 'sales', render: () => null });\n";
    expect(await findingsOf({ 'a-first.ts': sales, 'b.ts': text })).toEqual([
      ['CONSOLE_PAGE_INVALID', 'src/console/b.ts', at, expect.stringContaining(said)],
    ]);
  });

  it('broke no policy and asked no other origin', () => {
    expect(problems).toEqual([]);
  });
});

/** What the generator finds in these files of the folder, in process. */
async function findingsOf(files: Record<string, string>) {
  const { readProject } = await import('@twofold/schema');
  const { withOwnPages } = await import('../../generator/user-pages.ts');
  const { project } = readProject({
    schema: [{ file: 'schema.graphql', text: SCHEMA }],
    manifest: { file: 'manifest.yaml', text: 'name: shop\nconsole: {}\n' },
  });
  const texts = Object.entries({ ...files, 'parts/points.ts': POINTS }).map(([name, text]) => ({
    file: `src/console/${name}`,
    text,
  }));
  const { findings } = await withOwnPages(project!, { folder: 'src/console', texts });
  return findings.map(({ code, at, summary, fix }) => [
    code,
    at.file,
    at.line,
    `${summary} ${fix}`,
  ]);
}
