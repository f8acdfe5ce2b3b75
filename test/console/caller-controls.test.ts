import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { violations } from './axe.ts';
import { addUsers, bearerOf, enter, MANIFEST, type Role, settled } from './pages.ts';
import { type ConsoleServer, startConsole } from './server.ts';

const SDL = `
  scalar DateTime
  type User { id: ID! email: String! @unique nickname: String }
  type Team @auth(allow: [USER, API_KEY], on: [READ]) @auth(allow: [ROLE], roles: ["Owner"], on: [CREATE, UPDATE, DELETE]) { id: ID! name: String! opened: DateTime members: [Member!]! badges: [Badge!]! }
  type Member @auth(allow: [USER, API_KEY]) { id: ID! name: String! note: String team: Team! }
  type Badge @auth(allow: [USER]) { id: ID! name: String! teams: [Team!]! }
  type Query { a: Int }
`;

describeWith('chromium', 'the page Data, for each caller', () => {
  let server: ConsoleServer;
  let browser: Browser;
  beforeAll(async () => {
    const manifest = MANIFEST.replace('rest: true', 'rest: true, crud: true');
    server = await startConsole({ sdl: SDL, manifest });
    await addUsers(server);
    const as = await bearerOf(server, 'operator');
    const make = async (plural: string, body: object) => {
      const made = await server.call('POST', `/api/data/${plural}`, body, as);
      expect(made.status, made.text).toBe(201);
      return made.body.id as string;
    };
    const badgeIds = [
      await make('badges', { name: 'gold' }),
      await make('badges', { name: 'tin' }),
    ];
    for (let index = 1; index <= 20; index += 1) await make('teams', { name: `Team ${index}` });
    const teamId = await make('teams', { name: 'The last', badgeIds });
    await make('members', { name: 'Ann', teamId });
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const open = async (role: Role, path: string): Promise<Page> => {
    const context = await browser.newContext({ bypassCSP: true });
    if (role !== 'nobody') await enter(context, server, role);
    const page = await context.newPage();
    await page.goto(`${server.url}/console/${path}`);
    await settled(page);
    return page;
  };
  const controls = async (page: Page) => {
    await page.getByRole('grid').waitFor();
    const names = ['New row', 'Delete rows', 'Save changes'];
    const buttons = names.map((name) => page.getByRole('button', { name }).count());
    return Promise.all([...buttons, page.getByRole('checkbox').count().then(Math.sign)]);
  };

  it('has only the controls whose calls the rules let the role of the caller make', async () => {
    expect(await controls(await open('Viewer', 'data/teams'))).toEqual([0, 0, 0, 0]);
    expect(await controls(await open('Viewer', 'data/members'))).toEqual([1, 1, 1, 1]);
    expect(await controls(await open('Owner', 'data/teams'))).toEqual([1, 1, 1, 1]);
    expect(await controls(await open('operator', 'data/teams'))).toEqual([0, 0, 0, 0]);
    expect(await controls(await open('operator', 'data/members'))).toEqual([1, 1, 1, 1]);
    expect(await controls(await open('operator', 'data/teams?as=admin'))).toEqual([1, 1, 1, 1]);
  });

  it('leads from the sign-in to the page for a forgotten password, but not the operator', async () => {
    const page = await open('nobody', '');
    const link = page.getByRole('link', { name: 'Forgot your password?' });
    await page.getByRole('radio', { name: 'Operator' }).check();
    expect(await link.count()).toBe(0);
    await page.getByRole('radio', { name: 'User' }).check();
    expect(await violations(page)).toEqual([]);
    await link.click();
    await page.waitForURL(`${server.url}/auth/forgot-password`);
    await page.getByLabel('Email').waitFor();
  });

  it('keeps the focus that Tab moves away from the search of a relation', async () => {
    const page = await open('Owner', 'data/members');
    await page.getByRole('button', { name: 'New row' }).click();
    await page.getByRole('combobox', { name: 'teamId' }).focus();
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BUTTON');
  });

  it('finds several related rows by their labels, and has a picker for times, which are in UTC', async () => {
    const page = await open('Owner', 'data/teams');
    await page.getByRole('button', { name: 'New row' }).click();
    await page.getByRole('textbox', { name: 'name' }).fill('Eve');
    for (const label of ['gold', 'tin']) {
      await page.getByRole('combobox', { name: 'badgeIds' }).fill(label);
      await page.getByRole('option', { name: label }).click();
    }
    await page.getByRole('button', { name: 'Remove 1' }).click();
    await page.getByRole('textbox', { name: 'opened' }).fill('2026-02-03T04:05:06');
    expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Create' }).click();
    await page
      .getByRole('status')
      .getByText(/^Team 22 created/)
      .waitFor();
    const as = await bearerOf(server, 'Owner');
    const team = async () =>
      (await server.call('GET', '/api/teams/22?include=badges', undefined, as)).body;
    expect(await team()).toMatchObject({
      opened: '2026-02-03T04:05:06.000Z',
      badges: [{ name: 'tin' }],
    });
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByRole('combobox', { name: 'Field' }).selectOption('opened');
    await page.getByRole('combobox', { name: 'Condition' }).selectOption('lte');
    await page.getByRole('textbox', { name: 'Value' }).fill('2026-02-03T04:05:06');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL(/opened_lte=2026-02-03T04%3A05%3A06\.000Z/);
    await page.getByRole('gridcell', { name: '2026-02-03T04:05:06.000Z' }).dblclick();
    await page.getByRole('textbox', { name: 'opened' }).fill('2025-02-03T04:05:06.007');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(async () => (await team()).opened).toBe('2025-02-03T04:05:06.007Z');
  });

  it('has related rows that are large enough to touch', async () => {
    const page = await open('Owner', 'data/teams?row=21');
    await page.getByRole('region', { name: 'Row 21' }).getByText('tin').first().waitFor();
    expect(await violations(page)).toEqual([]);
  });

  it('reads the fields of a user by the rules, and every row only when that is chosen', async () => {
    const page = await open('Owner', 'users');
    const asked: string[] = [];
    page.on('request', (request) => void asked.push(new URL(request.url()).pathname));
    await page.getByRole('link', { name: 'viewer@x.test' }).click();
    await page.getByRole('link', { name: 'Open the row' }).waitFor();
    await settled(page);
    await page.getByText('nickname').waitFor();
    expect(asked.filter((path) => path.startsWith('/api/data'))).toEqual([]);
  });
});
