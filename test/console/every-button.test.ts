import { type Browser, chromium as browsers, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { bearerOf, enter, settled, watch } from './pages.ts';
import type { Place, Press } from './press.ts';
import { ELSEWHERE, PLACES } from './presses.ts';
import { startWhole, type WholeServer } from './whole-server.ts';

/** `Grant to *` for `Grant to Member`. */
const pattern = (name: string): RegExp =>
  new RegExp(`^${name.split('*').map(escaped).join('.*')}$`);
const escaped = (text: string) => text.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`);

const known = ({ at, presses }: Place): RegExp[] => {
  const elsewhere = Object.entries(ELSEWHERE)
    .filter(([path]) => at.startsWith(path))
    .flatMap(([, names]) => names);
  return [...presses.map(({ button }) => button), ...elsewhere].map(pattern);
};

describeWith('chromium', 'every button of every page (acceptance 13)', () => {
  let server: WholeServer;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  beforeAll(async () => {
    server = await startWhole();
    // What the buttons `Remove second factor` and `Restore` need.
    await server.kernel.store.db
      .updateTable('auth_users')
      .set({ totp_confirmed_at: 1, deletion_at: Date.now() + 1e8 })
      .where('user_id', '=', 2)
      .execute();
    await bearerOf(server, 'Support');
    await bearerOf(server, 'Support');
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    const context = await browser.newContext();
    await enter(context, server, 'operator');
    page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.setDefaultNavigationTimeout(60_000);
    await watch(page, server, problems);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.end();
  });

  const unknown = async (place: Place): Promise<string[]> => {
    const names = await page.getByRole('main').getByRole('button').evaluateAll(namesOf);
    const regexps = known(place);
    return names.filter((name) => !regexps.some((each) => each.test(name)));
  };

  it.each(PLACES.map((place) => [place.at, place] as const))(
    'has on %s only buttons that do what their row says',
    async (at, place) => {
      await page.goto(`${server.url}/console${at}`);
      await settled(page);
      const strange = new Set(await unknown(place));
      for (const press of place.presses) {
        await pressed(press);
        for (const name of await unknown(place)) strange.add(name);
      }
      expect([...strange]).toEqual([]);
    },
  );

  /** After a change the page reads its rows again; a row that is gone takes its buttons along. */
  const rereads = async () => {
    let last: string | null = null;
    const isAsBefore = async () => {
      const now = await page.getByRole('main').innerText();
      const same = now === last;
      last = now;
      return same;
    };
    await expect.poll(isAsBefore, { interval: 300 }).toBe(true);
  };

  /** Presses, answers the dialog, and sees the call and its effect. */
  const pressed = async ({ button, optional, dialog, fill = {}, go, call, sees }: Press) => {
    const found = page
      .getByRole('main')
      .getByRole('button', { name: pattern(button) })
      .first();
    if ((optional || button.includes('*')) && (await found.count()) === 0) return;
    await found.waitFor();
    // It waits until a change that is on its way is done.
    if (optional && (await found.isDisabled())) return;
    if (call || dialog) await expect.poll(() => found.isEnabled(), { timeout: 20_000 }).toBe(true);
    else if (await found.isDisabled()) return;
    const answered =
      call === undefined ? null : page.waitForResponse((each) => isOf(call, each.request()));
    // It is awaited below; until then its failure must not end the process.
    answered?.catch(() => {});
    await pressByKeyboard(found);
    if (dialog !== undefined) await answer(page, { dialog, fill, go: go! });
    if (answered) {
      const response = await answered;
      expect([
        button,
        response.status(),
        response.status() < 400 || (await response.text()),
      ]).toEqual([button, response.status(), true]);
    }
    if (sees) await roleOf(page, sees).waitFor();
    if (call) await rereads();
    await closeDialogs(page);
  };

  it('has left one entry in the audit for each kind of change, via the console, with no value of a secret', async () => {
    const entries: { action: string; via: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/api/system/audit?via=console&limit=200${cursor && `&cursor=${cursor}`}`;
      const { body } = await server.call('GET', path, undefined, server.operator);
      entries.push(...body.entries);
      cursor = body.next_cursor;
    }
    const actions = new Set(entries.map(({ action }) => action));
    const wanted = PLACES.flatMap(({ presses }) => presses.flatMap(({ audit }) => audit ?? []));
    const missing = wanted.filter((each) => ![...actions].some((one) => pattern(each).test(one)));
    expect(missing).toEqual([]);
    expect(JSON.stringify(entries)).not.toMatch(/hidden-value|whsec_|gk_/);
  });

  it('failed nowhere, and broke no policy', () => expect(problems).toEqual([]));
});

/** Names of buttons, without the headings that sort a column. It runs in the browser. */
const namesOf = (buttons: readonly any[]): string[] =>
  buttons
    .filter((each) => !each.closest('th, [role=columnheader]'))
    .map((each) => (each.getAttribute('aria-label') ?? each.textContent ?? '').trim());

interface Answer {
  readonly dialog: string;
  readonly fill: Readonly<Record<string, string>>;
  readonly go: string;
}

async function answer(page: Page, { dialog, fill, go }: Answer): Promise<void> {
  const opened = page
    .locator('dialog[open]')
    .filter({ has: page.locator('button') })
    .last();
  await opened.waitFor();
  expect(await nameOf(opened)).toMatch(pattern(dialog));
  for (const [label, value] of Object.entries(fill))
    await opened
      .locator('input, textarea')
      .and(opened.getByLabel(label, { exact: true }))
      .fill(value);
  const typed = opened.locator('label', { hasText: /^Type .* to confirm$/ });
  if ((await typed.count()) > 0)
    await opened.getByLabel(/^Type /).fill((await typed.innerText()).split(' ')[1]!);
  await pressByKeyboard(opened.getByRole('button', { name: go, exact: true }));
}

/** Everything is done without a pointer: Tab or the arrow keys reach the button, and Enter presses it. */
async function pressByKeyboard(button: Locator): Promise<void> {
  await button.focus();
  expect(await button.evaluate(isReached), await button.innerText()).toBe(true);
  await button.press('Enter');
}

/** Whether Tab reaches it, or the arrow keys in a group that Tab reaches. It runs in the browser. */
const isReached = (button: any): boolean =>
  button.getRootNode().activeElement === button &&
  (button.tabIndex >= 0 ||
    button.closest('[role=menu], [role=grid], [role=tablist], [role=toolbar]') !== null);

const nameOf = async (dialog: Locator): Promise<string> =>
  (await dialog.getAttribute('aria-label')) ??
  (await dialog.getByRole('heading').first().innerText());

function isOf(call: string, request: { method(): string; url(): string }): boolean {
  return pattern(call).test(`${request.method()} ${new URL(request.url()).pathname}`);
}

const roleOf = (page: Page, [role, name]: readonly [string, string]): Locator =>
  role === 'status'
    ? page.getByRole('status').filter({ hasText: name }).first()
    : page.getByRole(role as 'dialog', { name: pattern(name) }).first();

async function closeDialogs(page: Page): Promise<void> {
  for (let tries = 0; tries < 5 && (await page.locator('dialog[open]').count()) > 0; tries += 1)
    await page.keyboard.press('Escape');
}
