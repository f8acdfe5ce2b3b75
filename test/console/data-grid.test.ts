import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

const FIELDS = Array.from({ length: 19 }, (_, index) => `f${index}`);
const SDL = `
  scalar DateTime
  scalar Long
  scalar JSON
  type User { id: ID! email: String! @unique }
  type Author @auth(allow: [PUBLIC]) { id: ID! name: String! books: [Book!]! }
  type Book @auth(allow: [PUBLIC]) { id: ID! title: String! pages: Int big: Long meta: JSON secret: String @auth(allow: [ROLE], roles: ["Owner"]) author: Author! createdAt: DateTime }
  type Wide @auth(allow: [PUBLIC]) { id: ID! ${FIELDS.map((name) => `${name}: String`).join(' ')} }
  type Vault @auth(allow: [ROLE], roles: ["Owner"]) { id: ID! text: String! }
  type Query { a: Int }
`;
const MANIFEST = `
name: shop
api: { rest: true, crud: true, access: public }
auth: { roles: { list: [Owner, Member], first: Owner, default: Member } }
console: {}
`;
const ROWS = 10_000;

describeWith('chromium', 'the grid of the page Data', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'console-grid-')), 'app.db');
  const start = (address?: string) =>
    startConsole({
      sdl: SDL,
      manifest: MANIFEST,
      env: { DATABASE_URL: `file:${file}` },
      ...(address !== undefined && { address }),
    });
  let server: ConsoleServer;
  let browser: Browser;
  let page: Page;
  let as: Record<string, string>;
  const problems: string[] = [];
  beforeAll(async () => {
    server = await start();
    fill(file);
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    as = { Authorization: `Bearer ${body.token}` };
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => void problems.push(String(error)));
    await page.goto(`${server.url}/console/data/books`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await grid('Book').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const grid = (name: string) => page.getByRole('grid', { name });
  const cell = (name: string) => page.getByRole('gridcell', { name, exact: true });
  const go = async (path: string) => {
    await page.goto(`${server.url}/console/data/${path}`);
    await page.getByRole('grid').waitFor();
  };
  const focused = () => page.evaluate('document.activeElement.textContent');
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key);
  };

  it('moves by keys as a grid does, edits with Enter and F2, and types over a value', async () => {
    await go('books');
    await cell('Book 1').click();
    await press('ArrowDown');
    await expect.poll(focused).toBe('Book 2');
    await press('ArrowRight');
    await expect.poll(focused).toBe('2');
    await press('Control+End', 'Control+Home', 'ArrowRight', 'ArrowRight', 'PageDown');
    await expect.poll(focused).toMatch(/^Book \d\d$/);
    await press('Control+Home', 'ArrowRight', 'ArrowRight', 'F2');
    await page.getByRole('textbox', { name: 'title' }).fill('One');
    await press('Enter');
    await expect.poll(focused).toBe('One');
    const top = (await grid('Book').boundingBox())!.y;
    await press('ArrowRight', '4', '2', 'Enter');
    await page.getByRole('status').getByText('2 unsaved changes', { exact: true }).waitFor();
    expect((await grid('Book').boundingBox())!.y).toBe(top);
    expect((await server.call('GET', '/api/books/1', undefined, as)).body.title).toBe('Book 1');
    await press('Control+s');
    await expect
      .poll(async () => (await server.call('GET', '/api/books/1', undefined, as)).body)
      .toMatchObject({ title: 'One', pages: 42 });
  });

  it('copies the cell by Ctrl+C, and sorts by a click anywhere in a header', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await go('books?id_in=2,3&fields=id,title,pages');
    await cell('Book 3').click();
    await press('Control+c');
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toBe('Book 3');
    const header = page.getByRole('columnheader', { name: 'title' });
    const { width, height } = (await header.boundingBox())!;
    await header.click({ position: { x: width - 3, y: height / 2 } });
    await expect.poll(() => header.getAttribute('aria-sort')).toBe('ascending');
  });

  it('tells null, nothing and no access apart, rounds no number, and gives what is read no control', async () => {
    await go('books?id_in=1,2,3&fields=id,title,big,meta,secret,createdAt');
    await cell('no access').first().waitFor();
    expect(await cell('NULL').count()).toBeGreaterThan(0);
    await cell('9007199254740993').waitFor();
    await cell('9007199254740993').dblclick();
    const box = page.getByRole('textbox', { name: 'big' });
    expect(await box.inputValue()).toBe('9007199254740993');
    await press('Escape');
    await cell('no access').first().dblclick();
    expect(await page.locator('.cell-editor').count()).toBe(0);
    expect(await cell('2026-01-01T00:00:00.000Z').first().getAttribute('aria-readonly')).toBe(
      'true',
    );
  });

  it('has filters, sorting and columns in the address, and its export is the answer of REST', async () => {
    await go('books?title_contains=Book&pages_lt=20&sort=pages&order=desc&fields=id,title,pages');
    await cell('Book 19').waitFor();
    const shown = await page.getByRole('gridcell').allInnerTexts();
    await page.reload();
    await cell('Book 19').waitFor();
    expect(await page.getByRole('gridcell').allInnerTexts()).toEqual(shown);
    const question =
      '/api/books?title_contains=Book&pages_lt=20&sort=pages&order=desc&fields=id,title,pages';
    const saved = async (kind: string) => {
      await page.getByRole('button', { name: 'Export' }).click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name: kind }).click(),
      ]);
      return readFileSync(await file.path(), 'utf8');
    };
    const { body } = await server.call('GET', `${question}&limit=100`, undefined, as);
    expect(JSON.parse(await saved('JSON'))).toEqual(body.data);
    const csv = await server.call('GET', question, undefined, { ...as, Accept: 'text/csv' });
    expect(await saved('CSV')).toBe(csv.text);
  });

  it('builds a filter by the type of a field', async () => {
    await go('books');
    await page.getByRole('button', { name: 'Filter' }).click();
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    await dialog.getByRole('combobox', { name: 'Field' }).selectOption('pages');
    await dialog.getByRole('combobox', { name: 'Condition' }).selectOption('lt');
    await dialog.getByRole('textbox', { name: 'Value' }).fill('4');
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await expect.poll(() => page.url()).toContain('pages_lt=4');
    await expect.poll(() => grid('Book').getAttribute('aria-rowcount')).toBe('3');
    await page.getByRole('button', { name: 'Remove filter pages_lt' }).click();
    await expect.poll(() => page.url()).not.toContain('pages_lt');
  });

  it('leads to a related row, and finds another one by its name', async () => {
    await go('books?id=5&fields=title,authorId');
    await page.getByRole('gridcell').getByRole('link').first().click();
    await page.getByRole('region', { name: 'Row 1' }).getByText('Ada').waitFor();
    expect(page.url()).toContain('/data/authors?row=1');
    await page.goBack();
    await page.getByRole('gridcell', { name: /^1/ }).dblclick();
    await page.getByRole('combobox', { name: 'authorId' }).fill('Grace');
    await page.getByRole('option', { name: /Grace/ }).click();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('gridcell', { name: /Grace/ }).waitFor();
    expect((await server.call('GET', '/api/books/5', undefined, as)).body.authorId).toBe('2');
  });

  it('asks before changes are lost, and says which rows go with those that are deleted', async () => {
    await go('authors');
    await cell('Grace').dblclick();
    await page.getByRole('textbox', { name: 'name' }).fill('Hopper');
    await press('Enter');
    await page.getByRole('link', { name: 'Schema' }).click();
    await page.getByRole('alertdialog', { name: 'Leave' }).getByText('1 unsaved change').waitFor();
    await press('Escape');
    expect(page.url()).toContain('/data/authors');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('alertdialog').getByRole('button', { name: 'Discard changes' }).click();
    await page.getByRole('checkbox', { name: 'Select row 2' }).check();
    await page.getByRole('button', { name: 'Delete rows' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete rows' });
    await dialog.getByText(/1 row of Author will be deleted: 2\. 1 row of Book/).waitFor();
    await press('Escape');
  });

  it('shows every row as administrator, and the audit says that it was in the console', async () => {
    await go('books');
    await page.getByRole('switch', { name: 'As administrator' }).click();
    await expect.poll(() => page.url()).toContain('as=admin');
    await page.getByText('The rules of the schema do not hold here').waitFor();
    await page.getByRole('link', { name: 'Vault' }).click();
    await page.getByText('No rows').waitFor();
    await page.getByRole('button', { name: 'New row' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'text' }).fill('kept');
    await page.getByRole('button', { name: 'Create' }).click();
    await cell('kept').waitFor();
    const { body } = await server.call('GET', '/api/system/audit?target=vaults:*', undefined, as);
    expect(body.entries).toMatchObject([
      { action: 'createVaultAsAdmin', via: 'console', actor: 'host', detail: { fields: ['text'] } },
    ]);
  });

  it('draws at most 200 of 10,000 rows, and reads the others when one scrolls', async () => {
    await go('wides');
    expect(await grid('Wide').getAttribute('aria-rowcount')).toBe(String(ROWS + 1));
    for (const share of [0.3, 0.7, 1]) {
      await grid('Wide').evaluate((element, at) => {
        (element as { scrollTop: number }).scrollTop =
          at * (element as { scrollHeight: number }).scrollHeight;
      }, share);
      await expect.poll(() => page.getByRole('row').count()).toBeLessThanOrEqual(200);
    }
    await cell(`f0 ${ROWS}`).waitFor();
  });

  it('keeps what is staged while the server is away, and saves it afterwards', async () => {
    await go('books?id=7');
    await cell('Book 7').dblclick();
    await page.getByRole('textbox', { name: 'title' }).fill('Kept');
    await press('Enter');
    const address = new URL(server.url).host;
    await server.close();
    server = await start(address);
    await page.getByRole('status').getByText('1 unsaved change', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Save changes' }).click();
    await expect
      .poll(async () => (await server.call('GET', '/api/books/7', undefined, as)).body.title)
      .toBe('Kept');
  });

  it('failed nowhere', () => expect(problems).toEqual([]));
});

/** Rows that need no server to be made. */
function fill(file: string): void {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA busy_timeout = 5000; BEGIN');
  db.exec("insert into authors (name) values ('Ada'), ('Grace')");
  db.exec(`insert into books (title, pages, big, author_id, created_at, secret)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
    select 'Book ' || i, i, case i when 2 then 9007199254740993 end, 1, '2026-01-01T00:00:00.000Z', 'x' from n`);
  db.exec(`insert into wides (${FIELDS.join(', ')})
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${ROWS})
    select ${FIELDS.map((name) => `'${name} ' || i`).join(', ')} from n`);
  db.exec('COMMIT');
  db.close();
}
