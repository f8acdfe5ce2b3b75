import { type Browser, chromium as browsers, type Page, type Route } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chromium, describeWith } from '../engines/available.ts';
import { CONTRAST, violations } from './axe.ts';
import { enter, listedPages, settled, visit } from './pages.ts';
import { startWhole, type WholeServer } from './whole-server.ts';

/** Every answer but those of the frame around the page is held back, and so the page goes on loading. */
const holdUnlessFrame = async (route: Route) =>
  /\/api\/(console|auth\/refresh)$/.test(new URL(route.request().url()).pathname)
    ? route.continue()
    : undefined;

/** Pages that have the same to show on every server. */
const NEVER_EMPTY: ReadonlySet<string> = new Set([
  ...['graphql', 'models', 'logs', 'schema', 'settings'],
]);

describeWith('chromium', 'the console for those who see, point or read in another way', () => {
  let filled: WholeServer;
  let empty: WholeServer;
  let browser: Browser;
  beforeAll(async () => {
    [filled, empty] = await Promise.all([startWhole(), startWhole({ filled: false })]);
    browser = await browsers.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] });
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([filled?.end(), empty?.end()]);
  });

  /** Opens a page of the browser as the operator, and gives it every page of the console in turn. */
  const everyPage = async (
    server: WholeServer,
    options: object,
    see: (page: Page, open: () => Promise<void>, id: string) => Promise<readonly string[]>,
  ): Promise<string[]> => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    await enter(context, server, 'operator');
    const page = await context.newPage();
    const found: string[] = [];
    await page.goto(`${server.url}/console/nowhere`);
    await settled(page);
    const pages = await listedPages(server, { details: server === filled });
    for (const { id, path } of pages.filter(
      ({ id }) => server === filled || !NEVER_EMPTY.has(id),
    )) {
      const seen = await see(page, () => visit(page, path), id);
      found.push(...seen.map((each) => `${path}: ${each}`));
    }
    await context.close();
    return found;
  };

  /** What axe finds on the page as it is, in light and in dark. */
  const inBothSchemes = async (page: Page): Promise<string[]> => {
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await violations(page);
    await page.emulateMedia({ colorScheme: 'dark' });
    // Only the colours are others.
    return [...light, ...(await violations(page, CONTRAST)).map((each) => `in dark: ${each}`)];
  };

  it('has nothing that axe finds while a page loads', async () => {
    const found = await everyPage(filled, { bypassCSP: true }, async (page, open, id) => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.route('**/api/**', holdUnlessFrame);
      await open();
      await page.getByRole('heading', { level: 1 }).waitFor();
      // The editors of GraphQL need no answer.
      const busy = page.locator('main [aria-busy="true"]');
      const says = id === 'graphql' || (await busy.count()) > 0;
      return [...(says ? [] : ['does not say that it loads']), ...(await inBothSchemes(page))];
    });
    expect(found).toEqual([]);
  });

  it('has nothing that axe finds where there is nothing yet', async () => {
    const found = await everyPage(empty, { bypassCSP: true }, async (page, open) => {
      await open();
      await settled(page);
      return inBothSchemes(page);
    });
    expect(found).toEqual([]);
  });

  it('can be used at 200 % zoom: nothing is cut off, and no control lies under another', async () => {
    // A window of 1280 × 800 pixels has half of them for a page of twice the size.
    const options = { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 };
    const found = await everyPage(filled, options, async (page, open) => {
      await open();
      await settled(page);
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      const covered = (await page.evaluate(COVERED)) as string[];
      return [...(width > 640 ? [`wider than the window: ${width} px`] : []), ...covered];
    });
    expect(found).toEqual([]);
  });

  it('tells in forced colours what is chosen, and where the focus is', async () => {
    const options = { forcedColors: 'active' as const };
    const found = await everyPage(filled, options, async (page, open) => {
      await open();
      await settled(page);
      const chosen = (await page.evaluate(ALIKE)) as string[];
      await page.keyboard.press('Tab');
      const focus = (await page.evaluate(FOCUS)) as string;
      return focus === 'none' ? [...chosen, 'the focus is not seen'] : chosen;
    });
    expect(found).toEqual([]);
  });

  it('is walked by Tab alone: each control is reached, the focus is seen, and another tab opens without a way back', async () => {
    const found = await everyPage(filled, {}, async (page, open) => {
      await open();
      // The focus is at the beginning of a document that was loaded anew.
      await page.reload();
      await settled(page);
      const unsafe = page.locator('a[target]:not([rel~="noopener"])');
      const links = await unsafe.evaluateAll((all: any[]) => all.map((each) => each.outerHTML));
      return [...links, ...(await walkByTab(page))];
    });
    expect(found).toEqual([]);
  }, 300_000);
});

/** Presses Tab until the focus has left the page. @returns what is wrong on the way. */
async function walkByTab(page: Page): Promise<string[]> {
  const wrong: string[] = [];
  const wanted = (await page.evaluate(REACHABLE)) as string[];
  const reached = new Set<string>();
  for (let presses = 0; presses < 400; presses += 1) {
    await page.keyboard.press('Tab');
    const { mark, name, outline } = (await page.evaluate(FOCUSED)) as Focused;
    if (mark === null) break;
    if (reached.has(mark)) continue;
    reached.add(mark);
    if (!outline) wrong.push(`the focus is not seen on ${name}`);
  }
  return [
    ...wrong,
    ...wanted.filter((mark) => !reached.has(mark)).map((mark) => `never reached: ${mark}`),
  ];
}

interface Focused {
  /** What the control was marked with; null when the focus has left the page. */
  readonly mark: string | null;
  readonly name: string;
  readonly outline: boolean;
}

/** Controls that a person sees and that something else lies upon, after scrolling to them. */
const COVERED = `(() => {
  const found = [];
  for (const control of document.querySelectorAll('button, a[href], input, select, textarea')) {
    if (!control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    if (control.closest('[role=grid], .visually-hidden, .skip')) continue;
    control.scrollIntoView({ block: 'center', inline: 'center' });
    const { left, top, width, height } = control.getBoundingClientRect();
    if (width < 2 || height < 2) continue;
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    const label = control.closest('label');
    const own = there && (control.contains(there) || there.contains(control) || label?.contains(there));
    if (!own) found.push('covered: ' + control.outerHTML.slice(0, 120));
  }
  return found;
})()`;

/** Chosen elements that look as their neighbours that are not chosen. */
const ALIKE = `(() => {
  const look = (element) => {
    const of = (style) => [style.color, style.backgroundColor, style.borderColor, style.borderStyle,
      style.borderWidth, style.outlineStyle, style.textDecorationLine, style.fontWeight].join('|');
    return [of(getComputedStyle(element)), ...['::before', '::after'].map((part) => {
      const style = getComputedStyle(element, part);
      return style.content === 'none' ? '' : of(style) + style.content;
    })].join(' ');
  };
  const found = [];
  for (const [attribute, yes] of [['aria-selected', 'true'], ['aria-current', 'page'], ['aria-pressed', 'true']])
    for (const chosen of document.querySelectorAll('[' + attribute + '="' + yes + '"]')) {
      const role = chosen.getAttribute('role');
      const family = [...chosen.closest('[role=tablist], nav, [role=group], [role=toolbar], ul, main')?.querySelectorAll(chosen.tagName) ?? []];
      const other = family.find((each) => each !== chosen && each.getAttribute('role') === role && each.getAttribute(attribute) !== yes && each.className === chosen.className);
      if (other && look(other) === look(chosen)) found.push('not told from its neighbour: ' + chosen.outerHTML.slice(0, 120));
    }
  return found;
})()`;

/** How the focus is drawn. */
const FOCUS = `(() => {
  const style = getComputedStyle(document.activeElement);
  return style.outlineStyle;
})()`;

/**
 * Marks the controls that Tab has to reach. Of a group that the arrow keys move in, such as tabs or
 * a menu, only one is in the order of Tab.
 */
const REACHABLE = `(() => {
  const marks = [];
  let number = 0;
  for (const control of document.querySelectorAll('button, a[href], input, select, textarea, [role=grid]')) {
    if (!control.checkVisibility({ visibilityProperty: true }) || control.disabled) continue;
    if (control.closest('[role=grid]') && control.getAttribute('role') !== 'grid') continue;
    if (control.closest('[role=tablist], [role=menu], [role=toolbar], [role=radiogroup], [role=listbox]')) continue;
    if (control.type === 'radio' && !control.checked) continue;
    if (control.tabIndex < 0 && control.getAttribute('role') === 'grid') continue;
    const name = control.getAttribute('aria-label') ?? control.textContent.trim() ?? '';
    control.dataset.walked = (number += 1) + ' ' + control.tagName + ' ' + name.slice(0, 40);
    marks.push(control.dataset.walked);
  }
  return marks;
})()`;

/**
 * What has the focus, and whether that is seen: by an outline or a shadow on the control or around
 * it, or, in a picture, by another stroke than that of the same part elsewhere. An editor draws its
 * outline a moment later.
 */
const FOCUSED = `(async () => {
  let at = document.activeElement;
  while (at.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  if (at === document.body) return { mark: null, name: '', outline: true };
  at.dataset.walked ??= 'unlisted ' + (globalThis.walked = (globalThis.walked ?? 0) + 1);
  const strokes = (part) => { const { stroke, strokeWidth } = getComputedStyle(part); return stroke + strokeWidth; };
  const isDrawn = () =>
    [at, at.parentElement, at.closest('label'), at.closest('.cm-editor')].some((each) => {
      const style = each && getComputedStyle(each);
      return style && (style.outlineStyle !== 'none' || style.boxShadow !== 'none');
    }) ||
    [...at.querySelectorAll('rect[class]')].some((part) =>
      [...document.querySelectorAll('rect.' + part.classList[0])].some((other) => strokes(other) !== strokes(part)));
  for (let tries = 0; tries < 20 && !isDrawn(); tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return { mark: at.dataset.walked, name: at.outerHTML.slice(0, 120), outline: isDrawn() };
})()`;
