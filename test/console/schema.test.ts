import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, chromium as browsers, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DescribedType } from '../../runtime/console/flows/schema.ts';
import { layoutOf } from '../../runtime/console/web/pages/schema/graph-layout.ts';
import { graphOf, type PlacedBox } from '../../runtime/console/web/pages/schema/graph-model.ts';
import { chromium, describeWith } from '../engines/available.ts';
import { type ConsoleServer, OPERATOR, startConsole } from './server.ts';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

describeWith('chromium', 'the page Schema', () => {
  let server: ConsoleServer;
  let browser: Browser;
  let page: Page;
  const problems: string[] = [];
  const graph = () => page.getByRole('img', { name: 'Model graph' });
  const place = () => graph().locator('> g').getAttribute('transform');
  beforeAll(async () => {
    server = await startConsole();
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
    page = await (await browser.newContext()).newPage();
    page.on('console', (each) => void (each.type() === 'error' && problems.push(each.text())));
    page.on('pageerror', (error) => problems.push(String(error)));
    await page.goto(`${server.url}/console/schema`);
    await page.getByRole('radio', { name: 'Operator' }).check();
    await page.getByLabel('Password').fill(OPERATOR);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { level: 1, name: 'Schema' }).waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows the model, its types, the SDL, the migrations and the drift', async () => {
    await graph().getByRole('link', { name: 'Post', exact: true }).waitFor();
    const types = page.getByRole('table', { name: 'Types' });
    expect(await types.getByRole('row', { name: /^Post/ }).innerText()).toContain('posts');
    await page.getByRole('region', { name: 'SDL' }).getByText('type Author').waitFor();
    await page
      .getByRole('table', { name: 'Migrations' })
      .getByRole('row', { name: /audit\/0001/ })
      .getByText('applied')
      .waitFor();
    await page.getByRole('region', { name: 'Drift' }).getByText('none').waitFor();
  });

  it('opens a type from the picture, and the address says so', async () => {
    await graph().getByRole('link', { name: 'Author' }).click();
    const author = page.getByRole('region', { name: 'Type Author' });
    await author.getByRole('table', { name: 'Relations of Author' }).getByText('posts').waitFor();
    expect(page.url()).toContain('type=Author');
    await page.reload();
    await author.getByRole('link', { name: '[Post]' }).click();
    await page.getByRole('region', { name: 'Type Post' }).waitFor();
    await page.goBack();
    await author.getByRole('button', { name: 'Close type' }).click();
    await author.waitFor({ state: 'detached' });
  });

  it('is moved and enlarged by mouse and by keyboard', async () => {
    const start = await place();
    await graph().focus();
    await page.keyboard.press('ArrowRight');
    await expect.poll(place).not.toBe(start);
    await page.keyboard.press('0');
    await expect.poll(place).toBe(start);
    await page.keyboard.press('+');
    await expect.poll(place).not.toBe(start);
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(place).toBe(start);
    const { x, y } = (await graph().boundingBox())!;
    await page.mouse.move(x + 20, y + 20);
    await page.mouse.wheel(0, -240);
    await expect.poll(place).not.toBe(start);
    const enlarged = await place();
    await page.mouse.down();
    await page.mouse.move(x + 90, y + 50, { steps: 4 });
    await page.mouse.up();
    await expect.poll(place).not.toBe(enlarged);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).not.toBeNull();
  });

  it.each(['light', 'dark'] as const)('has nothing that axe finds, in %s', async (colorScheme) => {
    const context = await browser.newContext({ colorScheme, bypassCSP: true });
    const other = await context.newPage();
    await other.setViewportSize({ width: 320, height: 640 });
    await other.goto(`${server.url}/console/schema?type=Post`);
    await other.getByRole('radio', { name: 'Operator' }).check();
    await other.getByLabel('Password').fill(OPERATOR);
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByRole('region', { name: 'Drift' }).getByText('none').waitFor();
    await other.evaluate(axe);
    const { violations } = (await other.evaluate(
      "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })",
    )) as { violations: { id: string; nodes: { html: string }[] }[] };
    expect(violations.map(({ id, nodes }) => [id, nodes[0]?.html])).toEqual([]);
    expect(await other.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await context.close();
    expect(problems).toEqual([]);
  });
});

describe('the picture of the model', () => {
  /** Types that refer to earlier ones, some to two, some to none, one to itself. */
  const typesOf = (count: number): DescribedType[] =>
    Array.from({ length: count }, (_, index) => ({
      name: `Type${index}${index === 3 ? '_of_a_very_long_name'.repeat(9) : ''}`,
      kind: 'entity' as const,
      table: `type_${index}`,
      fields: [],
      relations: [index % 7 === 0 ? [] : [index >> 1], index % 3 === 0 ? [index] : []]
        .flat()
        .filter((to) => to !== 3)
        .map((to, at) => ({
          field: `ref${at}`,
          to: `Type${to}`,
          kind: 'one' as const,
          inverse: null,
          column: `ref${at}_id`,
        })),
    }));
  const overlap = (a: PlacedBox, b: PlacedBox) =>
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

  it.each([0, 1, 3, 40, 150])('of %i types has each once, and none over another', (count) => {
    const types = typesOf(count);
    const { boxes, edges, width, height } = layoutOf(graphOf(types), 2);
    expect(boxes.map(({ name }) => name).toSorted()).toEqual(
      types.map(({ name }) => name).toSorted(),
    );
    expect(edges.length).toBe(types.flatMap(({ relations = [] }) => relations).length);
    const over = boxes.flatMap((a, at) => boxes.slice(at + 1).filter((b) => overlap(a, b)));
    expect(over.map(({ name }) => name)).toEqual([]);
    for (const box of boxes) {
      expect(box.x).toBeGreaterThanOrEqual(-1);
      expect(box.y).toBeGreaterThanOrEqual(-1);
      expect(box.x + box.width).toBeLessThanOrEqual(width + 1);
      expect(box.y + box.height).toBeLessThanOrEqual(height + 1);
      expect(box.width).toBeLessThan(500);
    }
  });

  it('draws two fields that are each other’s inverse as one line', () => {
    const relation = (field: string, to: string, kind: 'one' | 'many', inverse: string) => ({
      ...{ field, to, kind, inverse },
      column: kind === 'one' ? `${field}_id` : `${inverse}_id`,
    });
    const { edges } = graphOf([
      { name: 'Post', kind: 'entity', relations: [relation('author', 'User', 'one', 'posts')] },
      { name: 'User', kind: 'entity', relations: [relation('posts', 'Post', 'many', 'author')] },
    ]);
    expect(edges).toMatchObject([{ from: 'Post', to: 'User', fromEnd: 'many', toEnd: 'one' }]);
  });
});
