import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** The rules about colours alone, for a page that was seen in other colours before. */
export const CONTRAST = ['color-contrast'];

/** What axe finds on a page whose context has `bypassCSP`. @returns the rule and the first element. */
export async function violations(page: Page, runOnly = TAGS): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  // A row has the colours of those before it: of long tables the first rows are enough for them.
  const within = runOnly === CONTRAST ? "{ exclude: ['tbody tr:nth-child(n+25)'] }" : 'document';
  const options = JSON.stringify({
    ...{ runOnly, resultTypes: ['violations'] },
    // An experimental rule has no tag of those above.
    rules: { [MISMATCH]: { enabled: runOnly !== CONTRAST } },
  });
  const found = (await page.evaluate(`axe.run(${within}, ${options})`)) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return found.violations.flatMap(({ id, nodes }) => {
    const [first] = nodes.filter(({ html }) => id !== MISMATCH || !isBracketed(html));
    return first ? [`${id}: ${first.html}`] : [];
  });
}

const MISMATCH = 'label-content-name-mismatch';

/** Whether a name has the text that is seen but for the brackets of the pseudo-locale around both. */
function isBracketed(html: string): boolean {
  const [name = '', text] = [
    /aria-label="([^"]*)"/.exec(html)?.[1],
    html.replaceAll(/<[^>]*>/g, ''),
  ];
  const bare = (each: string) => each.replaceAll(/[⟦⟧]/g, '');
  return name !== bare(name) && bare(name).includes(bare(text));
}
