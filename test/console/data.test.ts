import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

describeWith('chromium', 'the page Data', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let as: Record<string, string>;
  const problems: string[] = [];
  const title = async (id: number) =>
    (await server.call('GET', `/api/posts/${id}`, undefined, as)).body.title as string;
  beforeAll(async () => {
    server = await startConsole();
    const { body } = await server.call('POST', '/api/auth/login', { password: OPERATOR });
    as = { Authorization: `Bearer ${body.token}` };
    for (let index = 1; index <= 6; index += 1)
      await server.call('POST', '/api/posts', { title: `Post ${index}` }, as);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (): Promise<Page> => {
    const page = await (await browser.newContext()).newPage();
    page.on('pageerror', (error) => void problems.push(String(error)));
    page.on('console', (each) => {
      if (/Content Security Policy|Trusted/.test(each.text())) problems.push(each.text());
    });
    await page.goto(`${server.url}/console/data/posts?sort=id&order=asc`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('grid', { name: 'Post' }).waitFor();
    return page;
  };
  const cell = (page: Page, text: string) =>
    page.getByRole('gridcell', { name: text, exact: true });
  const edit = async (page: Page, from: string, to: string) => {
    await cell(page, from).focus();
    await page.keyboard.press('F2');
    await page.getByRole('textbox', { name: 'title' }).fill(to);
    await page.keyboard.press('Enter');
  };
  const status = (page: Page, text: string) =>
    page.getByRole('status').getByText(text, { exact: true }).waitFor();

  it('saves each changed row by itself: one is refused and stays, the other is saved', async () => {
    const page = await open();
    await edit(page, 'Post 1', 'Post one');
    await edit(page, 'Post 2', 'x'.repeat(50));
    await status(page, '2 unsaved changes');
    expect([await title(1), await title(2)]).toEqual(['Post 1', 'Post 2']);
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('alert').getByText(/40/).waitFor();
    await status(page, '1 unsaved change');
    expect([await title(1), await title(2)]).toEqual(['Post one', 'Post 2']);
    await page.getByRole('button', { name: 'Discard changes' }).click();
    const asked = page.getByRole('alertdialog', { name: 'Discard changes' });
    await asked.getByText('1 unsaved change of 1 row will be lost.').waitFor();
    await page.keyboard.press('Escape');
    await status(page, '1 unsaved change');
    await page.getByRole('button', { name: 'Discard changes' }).click();
    await asked.getByRole('button', { name: 'Discard changes' }).click();
    await cell(page, 'Post 2').waitFor();
  });

  it('drops a change with Escape, and notes nothing', async () => {
    const page = await open();
    await cell(page, 'Post 3').dblclick();
    await page.getByRole('textbox', { name: 'title' }).fill('never');
    await page.keyboard.press('Escape');
    await cell(page, 'Post 3').waitFor();
    expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
  });

  it('shows what somebody else changed meanwhile, and keeps either', async () => {
    const page = await open();
    await edit(page, 'Post 4', 'Mine');
    await status(page, '1 unsaved change');
    await expect
      .poll(async () => {
        await server.call('PATCH', '/api/posts/4', { title: 'Theirs' }, as);
        return title(4);
      })
      .toBe('Theirs');
    await page.getByRole('button', { name: 'Save changes' }).click();
    const dialog = page.getByRole('dialog', { name: 'Changed meanwhile' });
    for (const leave of ['Escape', 'Close']) {
      await dialog.waitFor();
      if (leave === 'Escape') await page.keyboard.press('Escape');
      else await dialog.getByRole('button', { name: 'Close' }).click();
      await page
        .getByRole('alert')
        .getByText(/^Row 4 is not saved: It was changed/)
        .waitFor();
      await cell(page, 'Mine').waitFor();
      await status(page, '1 unsaved change');
      expect(await title(4)).toBe('Theirs');
      await page.getByRole('button', { name: 'Save changes' }).click();
    }
    await dialog.getByText('Theirs', { exact: true }).last().waitFor();
    expect(await title(4)).toBe('Theirs');
    await dialog.getByRole('button', { name: 'Keep mine' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await title(4)).toBe('Mine');
  });

  it('makes a row with the kinds of its fields, and what was left empty has its default', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'New row' }).click();
    const dialog = page.getByRole('dialog', { name: 'New Post' });
    await dialog.getByRole('textbox', { name: 'title' }).fill('New');
    await dialog.getByRole('combobox', { name: 'pinned' }).selectOption('true');
    await dialog.getByRole('textbox', { name: 'meta' }).fill('{"a":[1,"b"]}');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await cell(page, 'New').waitFor();
    const { body } = await server.call('GET', '/api/posts?title=New', undefined, as);
    expect(body.data).toMatchObject([
      { title: 'New', state: 'DRAFT', pinned: true, meta: { a: [1, 'b'] } },
    ]);
  });

  it('deletes rows only after an answer, and Escape is none', async () => {
    const page = await open();
    await page.getByRole('checkbox', { name: 'Select row 5' }).check();
    await page.getByRole('checkbox', { name: 'Select row 6' }).check();
    await page.getByRole('button', { name: 'Delete rows' }).click();
    const dialog = page.getByRole('alertdialog', { name: 'Delete rows' });
    await dialog.getByText('2 rows of Post will be deleted: 5, 6').waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Cancel');
    await page.keyboard.press('Escape');
    expect((await server.call('GET', '/api/posts/5', undefined, as)).status).toBe(200);
    await page.getByRole('button', { name: 'Delete rows' }).click();
    await dialog.getByRole('button', { name: 'Delete rows' }).click();
    await cell(page, 'Post 5').waitFor({ state: 'detached' });
    expect((await server.call('GET', '/api/posts/6', undefined, as)).status).toBe(404);
  });

  it('broke no policy and failed nowhere', () => expect(problems).toEqual([]));
});
